/** Checks that what a successful request made is shown as it was sent and answered. */
import { deepEquals } from "bun";
import { bearer, type FuzzRequest } from "./draft.ts";
import type { FuzzAnswer } from "./judge.ts";
import type { World } from "./world.ts";

type Json = Readonly<Record<string, unknown>>;

export interface Door {
  readonly world: World;
  /** Asks the service. */
  ask(path: string, init: RequestInit): Promise<FuzzAnswer>;
}

/** Remembers what was made, and finds where what is shown now differs from what was answered or sent. */
export async function lookAfter(
  door: Door,
  request: FuzzRequest,
  answer: FuzzAnswer,
): Promise<readonly string[]> {
  if (answer.status >= 300 || request.method !== request.operation.method) return [];
  const { operation } = request;
  if (/setSetting/.test(operation.id)) return resetSettings(door, request);
  if (operation.id === "listWebhooks") rememberAll(door, answer);
  if (operation.method === "GET") return [];
  if (answer.status === 204) return goneProblems(door, request);
  if (operation.path.startsWith("/unsubscribe/") || operation.path.startsWith("/receipts/")) return [];
  const json = JSON.parse(answer.text) as Json;
  if (/^send(Sms|Email)/.test(operation.id))
    return answer.status === 202 && !answer.headers.has("idempotent-replayed")
      ? messageProblems(door, request, json)
      : [];
  return operation.auth === "admin" && typeof json.id === "string" ? recordProblems(door, request, json) : [];
}

function rememberAll({ world }: Door, { text }: FuzzAnswer): void {
  const { data } = JSON.parse(text) as { data: readonly { id: string }[] };
  for (const { id } of data.slice(0, 3)) world.remember("/admin/v1/webhooks", id);
}

/** Sets the settings back to those of the beginning, for the next request. */
async function resetSettings(
  door: Door,
  { params, text = "{}", url }: FuzzRequest,
): Promise<readonly string[]> {
  const names =
    params.name === undefined ? Object.keys(JSON.parse(text.replace(/^\ufeff/, ""))) : [params.name];
  const values = Object.fromEntries(
    names.map((name) => [name, name === "dns_servers" ? "127.0.0.1:9" : null]),
  );
  const account = new URL(url).searchParams.get("account_id");
  if (account !== null) delete values.dns_servers;
  const query = account === null ? "" : `?account_id=${encodeURIComponent(account)}`;
  const { status, text: answered } = await ask(door, `/admin/v1/settings${query}`, values);
  return status === 200 ? [] : [`settings cannot be set back: ${answered}`];
}

async function goneProblems(door: Door, { operation, url }: FuzzRequest): Promise<readonly string[]> {
  // A deleted key is revoked, and can still be seen. Sessions are ended all at once, and have no address of their own.
  if (operation.id === "deleteKey" || operation.id === "endConsoleSessions") return [];
  // Signing out deletes the cookie of whoever asks, and nothing here.
  if (operation.id === "closeConsoleSession") return [];
  const { status } = await ask(door, new URL(url).pathname);
  return status === 404 ? [] : [`${status} for what ${operation.id} has deleted`];
}

async function messageProblems(door: Door, { operation, caller, text = "" }: FuzzRequest, json: Json) {
  const path = operation.id.startsWith("sendSms") ? "/v1/sms/messages" : "/v1/emails/messages";
  const [accepted] = (json.messages ?? [json]) as readonly Json[];
  if (!accepted) return ["accepted, and no message"];
  door.world.remember(path, String(accepted.message_id), caller);
  const { status, text: found } = await door.ask(`${path}/${accepted.message_id}`, {
    headers: bearer(caller.key),
  });
  if (status !== 200) return [`${status} for a message that was accepted`];
  const shown = JSON.parse(found) as Json;
  const sent = JSON.parse(text.replace(/^\ufeff/, "")) as Json;
  const { status: _, ...answered } = accepted;
  return [...differences(answered, shown), ...differences(asShown(sent, path), shown, " of the request")];
}

/** Fields that a message shows as they were sent. Empty ones and `null` are not shown. */
const AS_SENT = {
  sms: ["variables", "callback_url", "tags", "metadata"],
  email: ["from", "to", "cc", "bcc", "subject", "tags", "metadata"],
};

function asShown(sent: Json, path: string): Json {
  const names = AS_SENT[path.includes("sms") ? "sms" : "email"];
  const values = names.map((name) => [name, (AS_KNOWN[name] ?? asIs)(sent[name])]);
  return Object.fromEntries(values.filter(([, value]) => !isNothing(value)));
}

const asIs = (value: unknown) => value;

/** Fields of which the service keeps what it knows. */
const AS_KNOWN: Readonly<Record<string, (value: unknown) => unknown>> = {
  from: addressOf,
  to: addressOf,
  cc: addressOf,
  bcc: addressOf,
  variables: (values) => withoutNothing(values as Json),
};

/** Addresses without fields that the interface does not know, which are ignored, and without empty ones. */
function addressOf(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(addressOf);
  if (typeof given !== "object" || given === null) return given;
  const { email, name } = given as Json;
  return withoutNothing({ email, name });
}

function withoutNothing(fields: Json | null | undefined): Json {
  return Object.fromEntries(Object.entries(fields ?? {}).filter(([, value]) => !isNothing(value)));
}

function isNothing(value: unknown): boolean {
  return (
    value === null || value === undefined || (typeof value === "object" && Object.keys(value).length === 0)
  );
}

async function recordProblems(door: Door, request: FuzzRequest, json: Json): Promise<readonly string[]> {
  const { operation } = request;
  const collection = operation.path.split("/{")[0] ?? "";
  const isMade = operation.method === "POST" && operation.path === collection;
  if (isMade) door.world.remember(collection, String(json.id));
  if ((!isMade && operation.method !== "PATCH") || NOT_SHOWN.includes(collection)) return [];
  const { status, text } = await ask(door, `${collection}/${json.id}`);
  if (status !== 200) return [`${status} for what ${operation.id} answered`];
  const shown = JSON.parse(text) as Json;
  const { api_key: _, ...answered }: Record<string, unknown> = json;
  const changing = CHANGING[collection];
  if (changing !== undefined) delete answered[changing];
  return differences(answered, shown);
}

/** Fields that change by themselves: a connector's status, what was found in the DNS. */
const CHANGING: Readonly<Record<string, string>> = {
  "/admin/v1/connectors": "status",
  "/admin/v1/domains": "records",
};

/** Paths that make no record under the path itself. */
const NOT_SHOWN = ["/admin/v1/sandbox/inbound", "/admin/v1/webhooks/test"];

function differences(wanted: Json, shown: Json, whose = ""): readonly string[] {
  return Object.entries(wanted).flatMap(([name, value]) => {
    const at = differenceAt(value, shown[name], name);
    return at === undefined ? [] : [`${at.place}${whose} is ${at.wanted}, and shown as ${at.shown}`];
  });
}

/** The first place where two values differ. */
function differenceAt(wanted: unknown, shown: unknown, place: string): Difference | undefined {
  if (deepEquals(wanted, shown)) return undefined;
  const differing = { place, wanted: JSON.stringify(wanted), shown: JSON.stringify(shown) };
  if (typeof wanted !== "object" || typeof shown !== "object" || !wanted || !shown) return differing;
  for (const name of new Set([...Object.keys(wanted), ...Object.keys(shown)])) {
    const [one, other] = [wanted, shown].map((each) => (each as Json)[name]);
    const inside = differenceAt(one, other, `${place}.${name}`);
    if (inside) return inside;
  }
  return differing;
}

interface Difference {
  readonly place: string;
  readonly wanted: string;
  readonly shown: string;
}

function ask({ world, ask: send }: Door, path: string, body?: object): Promise<FuzzAnswer> {
  const headers = { ...bearer(world.adminToken), ...(body && { "Content-Type": "application/json" }) };
  return send(path, { headers, ...(body && { method: "PUT", body: JSON.stringify(body) }) });
}
