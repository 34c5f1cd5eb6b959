/** What an Indian operator would refuse is refused at the door, under the field that is wrong and with its reason. */
import { describe, expect, test } from "bun:test";
import type { ConnectorKind } from "../../src/channels/channel.ts";
import { smppConnectorKind } from "../../src/channels/sms/smpp/smpp-connector.ts";
import type { DltEntity, Sender, SmsTemplate } from "../../src/core/records/accounts.ts";
import { type Caller, onEveryStore, type RunningApi } from "./running-api.ts";

const ENTITY = "1101172974420810001";
const OTHER = "1101172974420830004";
const TEMPLATE = "1107161234567890123";

interface Registered {
  readonly template: Partial<SmsTemplate>;
  /** `undefined`: none. */
  readonly sender: Partial<Sender> | undefined;
  readonly entity: Partial<DltEntity> | undefined;
  readonly settings: Readonly<Record<string, string>>;
  readonly kind: "smpp" | "renders";
}

async function register(api: RunningApi, over: Partial<Registered>): Promise<Caller & { template: string }> {
  const { template, settings = {}, kind = "smpp" } = over;
  const { sender, entity } = { sender: {}, entity: {}, ...over };
  const caller = await api.newAccount("live");
  const { accountId } = caller;
  const own = { dltTemplateId: TEMPLATE, dltEntityId: ENTITY, ...template };
  const made = await api.add("smsTemplates", { accountId, name: "otp", body: "Hi {#var#}", ...own });
  if (sender) {
    const whole = { accountId, senderId: "ACMECO", dltEntityId: ENTITY, isDefault: true, ...sender };
    await api.add("senders", whole);
  }
  if (entity) await api.add("dltEntities", { accountId, entityId: ENTITY, ...entity });
  const connector = { name: `c-${accountId}`, kind, config: {}, secrets: {}, isEnabled: true };
  const { id } = await api.add("connectors", connector);
  await api.add("routes", { accountId, channel: "sms", match: "", connectorIds: [id] });
  for (const [name, value] of Object.entries(settings))
    await api.store.records.setSettings(accountId, { [name]: value });
  return { ...caller, template: made.id };
}

type Refusals = readonly [
  name: string,
  registered: Partial<Registered>,
  request: Readonly<Record<string, unknown>>,
  details: Readonly<Record<string, string>>,
];

const tagged = (body: string, entity?: Partial<DltEntity>): Partial<Registered> => ({
  template: { body },
  ...(entity && { entity }),
});
const value = (one: string | number) => ({ variables: { "1": one } });
const DEFAULT = value("Asha");

const refusals: readonly Refusals[] = [
  [
    "another entity than the one the template is registered under",
    {},
    { ...DEFAULT, dlt_entity_id: OTHER },
    {
      dlt_entity_id: "is not the entity the template is registered under",
      from: "is registered under another DLT entity",
    },
  ],
  [
    "an entity that is not the account's",
    { entity: { entityId: OTHER } },
    DEFAULT,
    { dlt_entity_id: "is not a DLT entity of this account" },
  ],
  [
    "an entity that is inactive",
    { entity: { status: "inactive" } },
    DEFAULT,
    { dlt_entity_id: "is inactive on the DLT portal" },
  ],
  [
    "a template that is not approved yet",
    { template: { status: "pending" } },
    DEFAULT,
    { template_id: "is pending on the DLT portal" },
  ],
  [
    "a template that was blacklisted",
    { template: { status: "blacklisted" } },
    DEFAULT,
    { template_id: "is blacklisted on the DLT portal" },
  ],
  [
    "no sender at all",
    { sender: undefined },
    DEFAULT,
    { from: "required for Indian numbers: neither the template nor the account has a default sender" },
  ],
  [
    "a header nobody registered",
    {},
    { ...DEFAULT, from: "NOBODY" },
    { from: "is not a registered sender of this account" },
  ],
  [
    "a header that is another entity's",
    { sender: { dltEntityId: OTHER } },
    DEFAULT,
    { from: "is registered under another DLT entity" },
  ],
  [
    "a header that lists other templates",
    { sender: { linkedDltTemplateIds: ["110799999999"] } },
    DEFAULT,
    { from: "is not linked to this DLT template" },
  ],
  [
    "a header the template does not list",
    { template: { linkedHeaders: ["ACMEIN"] } },
    DEFAULT,
    { from: "is not linked to this DLT template" },
  ],
  [
    "a header that is not approved",
    { sender: { status: "rejected" } },
    DEFAULT,
    { from: "is rejected on the DLT portal" },
  ],
  [
    "a promotional header for a service template",
    { sender: { headerType: "promotional" }, template: { category: "service_implicit" } },
    DEFAULT,
    { from: "is a header for promotional messages only" },
  ],
  [
    "a value that is too long",
    {},
    value("x".repeat(41)),
    { "variables.1": "must be at most 40 characters for Indian numbers" },
  ],
  [
    "a value longer than the setting allows",
    { settings: { dlt_variable_max_length: "30" } },
    value("x".repeat(31)),
    { "variables.1": "must be at most 30 characters for Indian numbers" },
  ],
  [
    "letters for {#numeric#}",
    tagged("Code {#numeric#}"),
    value("12a"),
    { "variables.1": "must be digits only, as the template's {#numeric#} says" },
  ],
  [
    "a tag kept beside the text",
    { template: { body: "Code {#var#}", variableTags: ["numeric"] } },
    value("12a"),
    { "variables.1": "must be digits only, as the template's {#numeric#} says" },
  ],
  [
    "specials for {#alphanumeric#}",
    tagged("Id {#alphanumeric#}"),
    value("a-b"),
    { "variables.1": "must be letters and digits only, as the template's {#alphanumeric#} says" },
  ],
  [
    "words for {#url#}",
    tagged("See {#url#}"),
    value("our site"),
    { "variables.1": "must be a link, as the template's {#url#} says" },
  ],
  [
    "a link that is not whitelisted",
    tagged("See {#url#}", { whitelistedUrls: ["https://acme.in"] }),
    value("acme.in.evil.example/x"),
    { "variables.1": "must begin with a link that is whitelisted for the entity" },
  ],
  [
    "words for {#cbn#}",
    tagged("Call {#cbn#}"),
    value("us"),
    { "variables.1": "must be a call-back number, as the template's {#cbn#} says" },
  ],
  [
    "a call-back number that is not whitelisted",
    tagged("Call {#cbn#}", { callbackNumbers: ["1800 123 4567"] }),
    value("18001234568"),
    { "variables.1": "must be a call-back number that is whitelisted for the entity" },
  ],
  [
    "words for {#email#}",
    tagged("Write to {#email#}"),
    value("help"),
    { "variables.1": "must be an email address, as the template's {#email#} says" },
  ],
];

onEveryStore((start) => {
  describe("to an Indian number is refused", () => {
    test.each(refusals)("%s", async (_, registered, request, details) => {
      await using api = await start();
      const { key, template } = await register(api, registered);
      const body = { to: "+919876543210", template_id: template, ...request };
      const { status, json } = await api.post("/v1/sms/messages", body, { key });
      expect([status, json.details]).toEqual([400, details]);
    });
  });

  test("a template without DLT id or entity says which is missing", async () => {
    await using api = await start();
    const { accountId, key } = await register(api, { sender: undefined });
    await api.add("senders", { accountId, senderId: "ACMECO", isDefault: true });
    const { id } = await api.add("smsTemplates", { accountId, name: "bare", body: "Hi" });
    const { json } = await api.post("/v1/sms/messages", { to: "+919876543210", template_id: id }, { key });
    expect(json.details).toEqual({
      dlt_template_id: "required for Indian numbers: the template has no DLT template id",
      dlt_entity_id:
        "required for Indian numbers: neither the template, the sender nor the account's settings name one",
    });
  });

  test("what is whitelisted, linked and approved goes through, and other numbers are not asked", async () => {
    await using api = await start();
    const { key, template } = await register(api, {
      template: {
        body: "See {#url#} or call {#cbn#}",
        status: "approved",
        category: "service_implicit",
        linkedHeaders: ["ACMECO"],
      },
      sender: { status: "approved", headerType: "service" },
      entity: {
        whitelistedUrls: ["https://other.in/", "https://Acme.in/t/*", "https://last.in/"],
        callbackNumbers: ["+91 22 1234 5678", "1800 123 4567", "91 9876 543210", "9198765432"],
      },
    });
    const send = (to: string, one: string, two: string) =>
      api.post("/v1/sms/messages", { to, template_id: template, variables: { 1: one, 2: two } }, { key });
    const answers = [
      await send("+919876543210", "http://acme.in/t/42", "1800-1234567"),
      await send("+919876543210", "acme.in/t/", "18001234567"),
      await send("+919876543210", "other.in/?a=1", "022-12345678"),
      await send("+919876543210", "OTHER.in", "912212345678"),
      await send("+919876543210", "last.in/x", "9876543210"),
      await send("+919876543210", "last.in/x", "09198765432"),
      await send("+14155550123", "nowhere", "nobody"),
    ];
    expect(answers.map(({ status }) => status)).toEqual(Array(7).fill(202));
  });

  test("a batch is asked for its Indian numbers, whichever others are in it", async () => {
    await using api = await start();
    const { key, template } = await register(api, { entity: { status: "blacklisted" } });
    const send = (...to: string[]) =>
      api.post("/v1/sms/messages", { to, template_id: template, variables: { "1": "Asha" } }, { key });
    expect((await send("+14155550123", "+919876543210")).json.details).toHaveProperty("dlt_entity_id");
    expect((await send("+14155550123", "+447700900123")).status).toBe(202);
  });

  describe("a DLT template that is unknown here", () => {
    const connectorKinds: readonly ConnectorKind[] = [
      { ...smppConnectorKind, kind: "renders", rendersTemplates: () => true },
      smppConnectorKind,
    ];
    const UNKNOWN = "1107169999999999999";
    const request = { dlt_template_id: UNKNOWN, dlt_entity_id: ENTITY, variables: { "1": "4821" } };

    test("is accepted where every connector on the way renders by template id, in a live account", async () => {
      await using api = await start({ deps: { connectorKinds } });
      const { key } = await register(api, { kind: "renders" });
      for (const to of ["+919876543210", ["+919876543211", "+14155550123"]]) {
        const { status } = await api.post("/v1/sms/messages", { ...request, to }, { key });
        expect(status).toBe(202);
      }
    });

    test("is refused where one of them does not", async () => {
      await using api = await start({ deps: { connectorKinds } });
      const { key, accountId } = await register(api, { kind: "renders" });
      const connector = { name: "plain", kind: "smpp", config: {}, secrets: {}, isEnabled: true };
      const { id } = await api.add("connectors", connector);
      const { connectorIds: rendering = [] } = (await api.store.records.find("routes", { accountId })) ?? {};
      const connectorIds = [...rendering, id];
      await api.add("routes", { accountId, channel: "sms", match: "9198", connectorIds });
      const to = ["+919776543210", "+919876543210"];
      const { status, json } = await api.post("/v1/sms/messages", { ...request, to }, { key });
      expect([status, json.details]).toEqual([400, { dlt_template_id: "not a template of this account" }]);
    });

    test("is held to the registry all the same", async () => {
      await using api = await start({ deps: { connectorKinds } });
      const { key } = await register(api, { kind: "renders" });
      const over = { from: "NOBODY", dlt_entity_id: OTHER, variables: { "1": "x".repeat(41) } };
      const body = { ...request, ...over, to: "+919876543210" };
      expect(Object.keys((await api.post("/v1/sms/messages", body, { key })).json.details).sort()).toEqual([
        "dlt_entity_id",
        "from",
        "variables.1",
      ]);
    });
  });
});
