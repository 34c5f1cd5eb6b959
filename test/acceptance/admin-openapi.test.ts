/** Every answer of the administration is one that /openapi.json describes: its status, and its body to the last field. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Compile } from "typebox/schema";
import { email, never, openSimulator, sms } from "../fakes/open-simulator.ts";
import { type Answer, onEveryAdmin, type RunningAdmin } from "./running-admin.ts";

const NOBODY = "01890000-0000-7000-8000-000000000000";

interface Described {
  readonly operationId: string;
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Record<string, { readonly schema: object }>;
  };
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema: object }> }>;
}

interface Page {
  readonly schema: {
    readonly properties: { readonly data: { readonly items: { readonly properties: object } } };
  };
}

onEveryAdmin((startAdmin) => {
  let admin: RunningAdmin;
  let paths: Record<string, Record<string, Described>>;
  let components: object;
  let account: string;
  let connector: string;

  beforeAll(async () => {
    admin = await startAdmin();
    const description = await (await fetch(`${admin.url}/openapi.json`)).json();
    ({ paths, components } = description as { paths: typeof paths; components: object });
    account = (await ask("POST", "accounts", { name: "Acme", mode: "live" })).json.id;
    const config = { host: "127.0.0.1" };
    connector = (await ask("POST", "connectors", { kind: "test", name: "way", config })).json.id;
  });

  afterAll(() => admin[Symbol.asyncDispose]());

  /** Asks, and holds the answer against the description; and the body, where it is taken. */
  async function ask(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await admin.call(method, path, body);
    const { operationId, requestBody, responses } = operationOf(method, `/admin/v1/${path.split("?")[0]}`);
    const about = `${operationId} ${answer.status}`;
    const isLeftOut = body === undefined && requestBody?.required === false;
    const wanted = isLeftOut ? undefined : requestBody?.content["application/json"]?.schema;
    if (wanted && answer.status < 300) expect([about, problemOf(wanted, body)]).toEqual([about, undefined]);
    expect(Object.keys(responses).map((status) => `${operationId} ${status}`)).toContain(about);
    const schema = responses[answer.status]?.content?.["application/json"]?.schema;
    // An answer that is not described has no body.
    const problem = schema ? problemOf(closed(schema), answer.json, closed(components)) : answer.json;
    expect([about, problem]).toEqual([about, undefined]);
    return answer;
  }

  function operationOf(method: string, path: string): Described {
    const fits = (template: string) => new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`).test(path);
    const found = Object.keys(paths).filter(
      (template) => fits(template) && paths[template]?.[method.toLowerCase()],
    );
    const template = found.find((each) => !each.includes("{")) ?? found[0];
    const operation = template === undefined ? undefined : paths[template]?.[method.toLowerCase()];
    if (!operation) throw new Error(`${method} ${path} is not described`);
    return operation;
  }

  function problemOf(schema: object, json: unknown, parts = components): unknown {
    const [isSound, problems] = Compile({ ...schema, components: parts } as never).Errors(json);
    return isSound ? undefined : problems.map((each) => ({ at: each.instancePath, ...each.params }));
  }

  const records = (): readonly [noun: string, body: object, change: object][] => [
    ["keys", { name: "n" }, { name: null }],
    [
      "sms-templates",
      { name: "n", body: "Hi {#var#}", dlt_template_id: "1107160000000000011" },
      { status: "approved" },
    ],
    ["senders", { sender_id: "ABCDEF", dlt_entity_id: "1101456780000012345" }, { is_default: true }],
    [
      "dlt-entities",
      { entity_id: "1101456780000012345", whitelisted_urls: ["https://a.example"] },
      { name: "y" },
    ],
    ["domains", { domain: "acme.example" }, { dkim_selector: "abc" }],
    ["push-apps", { name: "n" }, { platforms: ["fcm"] }],
    ["contacts", { external_id: "e1" }, { external_id: "e2" }],
    [
      "routes",
      { channel: "sms", connectors: [{ connector_id: connector, weight: 3 }] },
      { failover: "always" },
    ],
    ["suppressions", { email: "x@example.net", expires_at: "2030-01-01T00:00:00Z" }, { expires_at: null }],
    ["inbound-numbers", { number: "56161", connector_id: connector }, { connector_id: null }],
    ["opt-outs", { recipient: "+919876543299", sender: "ABCDEF" }, { reason: "by letter" }],
  ];

  test("records: made, made twice, listed, shown, changed, refused, deleted, asked for again", async () => {
    for (const [noun, fields, change] of records()) {
      const body = { account_id: account, ...fields };
      const { json } = await ask("POST", noun, body);
      await ask("POST", noun, body);
      await ask("POST", noun, { account_id: NOBODY });
      for (const query of ["", `?account_id=${account}`, "?limit=1", "?limit=x", "?account_id=x"]) {
        await ask("GET", noun + query);
      }
      for (const id of [json.id, NOBODY]) {
        await ask("GET", `${noun}/${id}`);
        await ask("PATCH", `${noun}/${id}`, change);
      }
      await ask("PATCH", `${noun}/${json.id}`, { name: 7, body: 7, reason: 7, number: 7 });
      if (noun === "domains") await ask("POST", `${noun}/${json.id}/verify`);
      if (noun === "keys") await ask("POST", `${noun}/${json.id}/revoke`);
      await ask("DELETE", `accounts/${account}`);
      await ask("DELETE", `${noun}/${json.id}`);
      await ask("DELETE", `${noun}/${json.id}`);
    }
  });

  test("what the simulator was given, with every field that it has", async () => {
    const [phone, mail] = [openSimulator("sms"), openSimulator("email")];
    const ids = { templateId: NOBODY, dltTemplateId: "11071", dltEntityId: "11014" };
    const content = { channel: "sms" as const, ...ids, variables: { "1": "x".repeat(5_000), "2": 7 } };
    await phone.simulator.send(sms("+919876543210", { from: "ACMECO", content }), never);
    const whole = email(["ann@example.com"]);
    const [to] = whole.content.to;
    const over = {
      cc: [to!],
      bcc: [to!],
      replyTo: "r@example.com",
      bodyHtml: "<p>",
      headers: { "X-A": "1" },
    };
    await mail.simulator.send({ ...whole, content: { ...whole.content, ...over } }, never);
    const entries = [...phone.memory.entries(), ...mail.memory.entries()];
    await admin.store.sandbox.record(
      entries.map((entry) => ({ ...entry, accountId: admin.accountId, messageId: NOBODY })),
    );
    const { data } = (await ask("GET", `sandbox/messages?message_id=${NOBODY}`)).json;
    expect(data).toHaveLength(2);
    const page = operationOf("GET", "/admin/v1/sandbox/messages").responses[200]?.content?.[
      "application/json"
    ];
    const described = Object.keys((page as Page).schema.properties.data.items.properties);
    expect(described).toEqual(expect.arrayContaining(data.flatMap(Object.keys)));
  });

  test("everything else", async () => {
    const asked: readonly [string, string, unknown?][] = [
      ["GET", "connector-kinds"],
      ["GET", `connectors/${connector}`],
      ["PATCH", `connectors/${connector}`, { config: { port: 1 } }],
      ["POST", `connectors/${connector}/test`],
      ["GET", "settings"],
      ["GET", `settings/idempotency?account_id=${account}`],
      ["PUT", "settings/idempotency", { value: "strict" }],
      ["PUT", "settings", { colour: "red" }],
      ["GET", "settings/colour"],
      ["GET", `webhooks?account_id=${account}`],
      ["GET", "webhooks/evt_x_1"],
      ["GET", "webhooks/evt_x_1/attempts"],
      ["POST", "webhooks/evt_x_1/replay"],
      ["POST", "webhooks/replay", { account_id: account, host: "a.example" }],
      ["POST", "webhooks/test", { account_id: account, url: "https://a.example/" }],
      ["GET", "webhooks/hosts"],
      ["GET", `webhooks/secret?account_id=${account}`],
      ["POST", `webhooks/secret/rotate?account_id=${account}`],
      ["GET", "alarms"],
      ["GET", "receipts/parked?limit=0"],
      ["GET", "sandbox/messages"],
      [
        "POST",
        "sandbox/inbound",
        { account_id: admin.accountId, from: "+919876543210", to: "56161", text: "x" },
      ],
      ["GET", `inbound-messages?account_id=${admin.accountId}`],
      ["GET", `messages/sms/${NOBODY}/timeline?account_id=${account}`],
      ["GET", `messages/${NOBODY}/timeline`],
      ["GET", `messages/${NOBODY}/timeline?channel=fax`],
      [
        "POST",
        "suppressions/import",
        { account_id: account, entries: [{ email: "x" }, { email: "a@b.example" }] },
      ],
      ["POST", "dlt/import", { account_id: account, csv: "Header,Status\nACMECO,Approved\n" }],
      ["POST", "erasures", { recipient: "+919876543210" }],
      ["GET", "erasures"],
      ["GET", `erasures/${NOBODY}`],
    ];
    for (const [method, path, body] of asked) await ask(method, path, body);
  });
});

/** A schema that takes no field which it does not name. What is put together of several is left as it is. */
function closed(schema: unknown): object {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null || "allOf" in schema) return schema as never;
  const within = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closed(part)]));
  const isClosed = "type" in schema && schema.type === "object" && "properties" in schema;
  return isClosed ? { additionalProperties: false, ...within } : within;
}
