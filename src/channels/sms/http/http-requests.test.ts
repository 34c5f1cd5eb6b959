/** The request that a description makes of a message: its values, where they come from, and where they are put. */
import { expect, test } from "bun:test";
import {
  httpConnector,
  MESSAGE_ID,
  never,
  openHttpRig,
  outgoingSms,
  withGateway,
} from "../../../../test/fakes/http-rig.ts";
import type { OutgoingSms } from "../../channel.ts";

const gateway = withGateway();

const SECRETS = { auth_token: "t0ken" };

interface Described {
  readonly send?: Record<string, unknown>;
  readonly config?: Record<string, unknown>;
}

/** The request, or why there is none. */
async function requested(message: OutgoingSms, { send = {}, config = {} }: Described) {
  const described = { send: { url: gateway().url, ...send }, answer: {} };
  const rig = openHttpRig(httpConnector({ provider: "custom", gateway: described, ...config }, SECRETS));
  const before = gateway().requests.length;
  const { parts } = await rig.channel.send(message, never);
  await rig.channel.stop();
  const [part] = parts;
  return gateway().requests[before] ?? (part?.kind === "rejected" ? part.error.code : part?.kind);
}

async function filled(template: string, message: OutgoingSms, config: Record<string, unknown> = {}) {
  const request = await requested(message, { send: { json: { value: template } }, config });
  return typeof request === "object" ? request.json.value : request;
}

test("the sender is the message's, else the connector's", async () => {
  const { from: _, ...bare } = outgoingSms();
  const config = { sender: "CONFIG" };
  const from = (message: OutgoingSms) => filled("{{from}}", message, config);
  expect(await from({ ...bare, from: "OWN" })).toBe("OWN");
  expect(await from(bare)).toBe("CONFIG");
});

test("a provider's template is found by DLT id before our own id, and is the DLT id where neither is listed", async () => {
  const { content, ...rest } = outgoingSms();
  const { dltTemplateId: _, ...without } = content;
  const both = { ...rest, content: { ...content, templateId: "ours" } };
  const ofOurs = { ...rest, content: { ...without, templateId: "ours" } };
  const named = (message: OutgoingSms, template_ids: Record<string, string>) =>
    filled("{{provider_template_id}}", message, { template_ids });
  expect(await named(both, { ours: "by-ours", "1107160000000000001": "by-dlt" })).toBe("by-dlt");
  expect(await named(both, { ours: "by-ours" })).toBe("by-ours");
  expect(await named(ofOurs, { ours: "by-ours" })).toBe("by-ours");
  expect(await named(both, {})).toBe("1107160000000000001");
  const abroad = {
    ...rest,
    content: { ...without, templateId: "ours", templateDltId: "1107160000000000002" },
  };
  expect(await named(abroad, { ours: "by-ours", "1107160000000000002": "by-dlt" })).toBe("by-dlt");
  expect(await named(abroad, {})).toBe("1107160000000000002");
  expect(await filled("{{dlt_template_id}}", abroad)).toBeUndefined();
  expect(await named(ofOurs, {})).toBeUndefined();
});

test("a number is told as it stands in texts", async () => {
  const { content, ...rest } = outgoingSms();
  const message = { ...rest, content: { ...content, variables: { "1": 0.00000012 } } };
  expect(await filled("{{variables.1}}", message)).toBe("0.00000012");
});

test("the DLT ids are those that the message was resolved to", async () => {
  const { content, ...rest } = outgoingSms();
  const resolved = { dltTemplateId: "1107", dltEntityId: "1101" };
  const message = { ...rest, content: { ...content, resolved } };
  expect(await filled("{{dlt_template_id}} {{dlt_entity_id}}", message)).toBe("1107 1101");
});

test.each([
  [300, "1 1 1000"],
  [59_999.9, "59 1 59999"],
  [150_000.5, "150 2 150000"],
])(
  "of %p milliseconds that are left, whole seconds and minutes are said, and at least one",
  async (remainingMs, said) => {
    const template = "{{validity_seconds}} {{validity_minutes}} {{validity_ms}}";
    expect(await filled(template, outgoingSms({ remainingMs }))).toBe(said);
  },
);

test("a gateway is shown who we are where its description says", async () => {
  const value = "{{secret.auth_token}}";
  const shown = async (auth: Record<string, string>) => {
    const request = await requested(outgoingSms(), { send: { auth, query: { a: "1" } } });
    if (typeof request !== "object") throw new Error(request);
    return [request.headers.authorization, request.headers["x-key"], request.query];
  };
  expect(await shown({ kind: "bearer", value })).toEqual(["Bearer t0ken", undefined, { a: "1" }]);
  expect(await shown({ kind: "header", name: "X-Key", value })).toEqual([undefined, "t0ken", { a: "1" }]);
  expect(await shown({ kind: "query", name: "key", value })).toEqual([
    undefined,
    undefined,
    { a: "1", key: "t0ken" },
  ]);
  expect(await shown({ kind: "basic", username: "ann", value })).toEqual([
    `Basic ${btoa("ann:t0ken")}`,
    undefined,
    { a: "1" },
  ]);
});

test("a request has the method that its description says, and is a POST if it says none", async () => {
  const methodOf = async (send: Record<string, unknown>) => {
    const request = await requested(outgoingSms(), { send });
    return typeof request === "object" ? request.method : request;
  };
  expect(await methodOf({ json: {} })).toBe("POST");
  expect(await methodOf({ method: "PUT", json: {} })).toBe("PUT");
  expect(await methodOf({ method: "GET", query: { to: "{{to}}" } })).toBe("GET");
});

test("a body has the type that its description says, and is there with nothing in it", async () => {
  const headers = { "Content-Type": "application/vnd.sms+json" };
  const request = await requested(outgoingSms(), { send: { json: { a: "{{variables.9}}" }, headers } });
  expect(request).toMatchObject({ body: "{}", headers: { "content-type": "application/vnd.sms+json" } });
});

test("a number has its own digits, however many, and what is no number stays a text", async () => {
  const { content, ...rest } = outgoingSms();
  const message = { ...rest, content: { ...content, variables: { 1: "ABC", 2: "007", 3: "1.50" } } };
  const numbers = ["dlt_template_id", "to_digits", "variables.1", "variables.2", "variables.3"];
  const json = numbers.map((name) => `{{${name}|number}}`);
  expect(await requested(message, { send: { json } })).toMatchObject({
    body: '[1107160000000000001,919876543210,"ABC",7,1.5]',
  });
});

test("only a decimal number is a number: what JavaScript takes for one too stays a text", async () => {
  const { content, ...rest } = outgoingSms();
  const texts = ["12E4", "0x1F", " ", "+0001107160000000000001", "-3", "000"];
  const variables = Object.fromEntries(texts.map((text, index) => [`${index}`, text]));
  const json = texts.map((_, index) => `{{variables.${index}|number}}`);
  expect(await requested({ ...rest, content: { ...content, variables } }, { send: { json } })).toMatchObject({
    body: '["12E4","0x1F"," ",1107160000000000001,-3,0]',
  });
});

test("an empty value is none: its field is left out, or the message is not sent without it", async () => {
  const { content, ...rest } = outgoingSms();
  const message = { ...rest, content: { ...content, variables: { 1: "" } } };
  const send = { json: { a: "{{variables.1}}", list: ["{{variables.1}}"], id: "{{message_id}}" } };
  expect(await requested(message, { send })).toMatchObject({ json: { id: MESSAGE_ID } });
  expect(gateway().requests[0]?.json).not.toHaveProperty("a");
  expect(gateway().requests[0]?.json).not.toHaveProperty("list");
  expect(await requested(message, { send: { ...send, required: ["variables.1"] } })).toBe(
    "http.missing_value",
  );
});

test("a send has a second more than its answer may take, so that the answer's own limit ends it", () => {
  const described = { send: { url: gateway().url }, answer: {} };
  const settings = { provider: "custom", gateway: described, response_timeout_ms: 5_000 };
  expect(openHttpRig(httpConnector(settings)).channel.sendTimeoutMs).toBe(6_000);
});
