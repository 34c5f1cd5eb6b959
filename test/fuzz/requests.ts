/** A request for an operation: as the description wants it, or spoilt in some way. */
import type { Chance } from "./chance.ts";
import type { Operation, Parameter } from "./described.ts";
import { bearer, type Draft, type FuzzRequest, NOBODY } from "./draft.ts";
import { toText } from "./odd-values.ts";
import { spoil } from "./spoil.ts";
import { valueFor } from "./values.ts";
import type { Caller, World } from "./world.ts";

const SPOILT_PERCENT = 60;

export function createRequest(operation: Operation, world: World, chance: Chance): FuzzRequest {
  const draft = soundRequest(operation, world, chance);
  if (chance.is(SPOILT_PERCENT)) {
    for (let times = chance.is(75) ? 1 : 2; times > 0; times--) spoil(draft, { world, chance });
  }
  if ("body" in draft && draft.text === undefined) draft.text = toText(draft.body);
  return { ...draft, url: world.url + pathOf(draft) + queryOf(draft) };
}

function soundRequest(operation: Operation, world: World, chance: Chance): Draft {
  const params = paramsFor(operation, { world, chance });
  const caller = world.ownerOf(params.message_id ?? "") ?? chance.pick(world.callers);
  const making = { chance, hint: world.hints(caller, operation.id) };
  const { parameters, request } = operation;
  const isAsked = ({ in: place, required }: Parameter) => place === "query" && (required || chance.is(30));
  return {
    operation,
    caller,
    method: operation.method,
    params,
    query: parameters
      .filter(isAsked)
      .map(({ name, schema }) => [name, encodeURIComponent(String(valueFor(schema, name, making)))]),
    ...(operation.id === "takeReceiptsByQuery" && { query: [...new URLSearchParams(chance.pick(REPORTS))] }),
    headers: headersFor(operation, { caller, world, chance }),
    ...(request && { body: bodyFor(operation, making) }),
    ...(operation.id === "takeReceipts" && { text: chance.pick(REPORTS) }),
  };
}

function bodyFor(operation: Operation, making: Parameters<typeof valueFor>[2]): unknown {
  const { chance } = making;
  if (/setSetting/.test(operation.id)) {
    const [name, value] = chance.pick(SETTINGS);
    return operation.id === "setSetting" ? { value } : { [name]: value };
  }
  const body = valueFor(operation.request?.schema ?? {}, "", making) as Record<string, unknown>;
  if (operation.id === "createConnector") Object.assign(body, chance.pick(CONNECTORS));
  if (/^sendSms/.test(operation.id) && chance.is(90)) body.variables = { "1": String(chance.below(10_000)) };
  // One of the two must be there, which the schema does not say.
  if (/^sendSms/.test(operation.id) && !body.dlt_template_id)
    body.template_id ??= making.hint("template_id", chance);
  if (/^sendEmail/.test(operation.id)) body.body_text ??= "Hello";
  if (operation.id === "identifyUser" && !body.external_id)
    body.contact_id ??= making.hint("contact_id", chance);
  if (operation.id.endsWith("Route") && body.connectors) delete body.connector_ids;
  else if (operation.id === "createRoute") body.connector_ids ??= making.hint("connector_ids", chance);
  return body;
}

/** Settings that do not disturb later requests; they are set back all the same. */
const SETTINGS: readonly (readonly [string, unknown])[] = [
  ["batch_duplicates", "once"],
  ["recipient_daily_limit", 100_000],
  ["push_rate_limit", 1_000_000],
];

const CONNECTORS = [
  { kind: "smpp", config: { host: "127.0.0.1", port: 1, system_id: "a", password: "b" } },
  { kind: "smtp", config: { host: "127.0.0.1", port: 1 } },
  {
    kind: "http",
    config: { provider: "kannel", base_url: "http://127.0.0.1:9", username: "a", password: "p" },
  },
  { kind: "mx", config: { port: 1 } },
];

/** Reports as providers write them, and others that are a little off. */
const REPORTS = [
  "id=m-1&status=1&answer=stat%3ADELIVRD",
  "externalId=m-2&eventType=DELIVERED&destAddr=919876543210",
  '{"message-id":"m-3","status":"delivered","to":"919876543210"}',
  '[{"requestId":"m-4","report":[{"number":"919876543210","status":"1"}]}]',
  "[{},null,1]",
  "id=%00&status=x",
  "{",
  "",
];

function paramsFor(operation: Operation, surroundings: Surroundings): Record<string, string> {
  const { world, chance } = surroundings;
  if (operation.id.startsWith("takeReceipts")) {
    const { connectorId, token } = chance.pick(world.callbacks);
    return { connector_id: connectorId, token };
  }
  if (/unsubscribe/i.test(operation.id)) return { token: world.unsubscribeToken };
  const names = operation.parameters.filter((each) => each.in === "path").map(({ name }) => name);
  return Object.fromEntries(names.map((name) => [name, idFor(operation, name, surroundings)]));
}

interface Surroundings {
  readonly world: World;
  readonly chance: Chance;
}

function idFor({ path, id }: Operation, name: string, { world, chance }: Surroundings): string {
  if (name === "channel") return chance.pick(["sms", "email"]);
  if (id.endsWith("Setting")) return chance.pick(SETTINGS)[0];
  const collection = path.slice(0, path.indexOf("/{"));
  const shelf = collection === "/admin/v1/messages" ? chance.pick(MESSAGES) : collection;
  const known = world.idOf(shelf, chance);
  const isKept = known !== undefined && world.isKept(known) && !id.startsWith("get");
  return known === undefined || isKept ? NOBODY : known;
}

const MESSAGES = ["/v1/sms/messages", "/v1/emails/messages"];

interface Sending extends Surroundings {
  readonly caller: Caller;
}

function headersFor(
  { auth, parameters, request }: Operation,
  { caller, world, chance }: Sending,
): Record<string, string> {
  const isIdempotent = parameters.some(({ name }) => name === "Idempotency-Key");
  const key: Record<string, string> = chance.is(20) ? { "X-API-Key": caller.key } : bearer(caller.key);
  return {
    "X-Forwarded-For": `10.${chance.below(256)}.${chance.below(256)}.${chance.below(256)}`,
    ...(auth === "api-key" && key),
    ...(auth === "admin" && bearer(world.adminToken)),
    ...(request && { "Content-Type": chance.pick(["application/json", "application/json; charset=utf-8"]) }),
    ...(isIdempotent && chance.is(25) && { "Idempotency-Key": `key-${chance.below(400)}` }),
    ...(chance.is(30) && { "X-Request-Id": `trace-${chance.below(1_000)}` }),
  };
}

function pathOf({ operation, params }: Draft): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => escaped(params[name] ?? ""));
}

/** Malformed escapes stay as they are: they stand for octets that are not text. */
function escaped(text: string): string {
  const isMalformed = /%(?![0-9A-Fa-f]{2})|%[fF]{2}/.test(text);
  return isMalformed ? text.replace(/[/?#\\]/g, encodeURIComponent) : encodeURIComponent(text.toWellFormed());
}

function queryOf({ query }: Draft): string {
  return query.length === 0 ? "" : `?${query.map(([name, value]) => `${name}=${value}`).join("&")}`;
}
