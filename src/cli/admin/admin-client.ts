/** A client of the admin API. Its failures tell the operator what to do. */
import { CommandFailure } from "../commands/command-failure.ts";
import { fetchProblem } from "../network/fetch-problem.ts";
import { pastProxy } from "../network/past-proxy.ts";
import { missingField } from "./answer-fields.ts";

export interface AdminClient {
  /**
   * The answer's body; `undefined` if it has none. Rejects with `CommandFailure`.
   *
   * @param path after `/admin/v1/`, with ids encoded: `accounts/ID`
   */
  request(method: Method, path: string, more?: Parameters): Promise<unknown>;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Parameters {
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

export interface AdminServer {
  readonly baseUrl: string;
  readonly token: string;
  /** The `sandbox.json` that `baseUrl` is from; absent if an option or the environment names it. */
  readonly namedBy?: string;
}

export function createAdminClient(server: AdminServer): AdminClient {
  return {
    async request(method, path, { query, body } = {}) {
      const response = await send(server, urlOf(server.baseUrl, path, query), {
        method,
        headers: {
          Authorization: `Bearer ${server.token}`,
          Accept: "application/json",
          ...(body !== undefined && { "Content-Type": "application/json" }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      refuseRedirect(server.baseUrl, response);
      if (response.status === 204 && method === "DELETE") return undefined;
      const answer = await readJson(response, server);
      if (response.status === 404) throw notFound(server, path, isAboutMessage(answer));
      if (!response.ok) throw refused(response, answer);
      const missing = missingField(method, path, answer);
      if (missing !== undefined)
        throw notPostrider(server, `${response.status} with JSON that has no ${missing}`);
      return answer;
    },
  };
}

/** Longer than any admin request takes: trying a connector may need 15 s, DNS 20 s. */
const TIME_LIMIT_MS = 30_000;

function urlOf(baseUrl: string, path: string, query: Parameters["query"] = {}): URL {
  const url = urlOn(baseUrl, `/admin/v1/${path}`);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return url;
}

/** The URL of `path` on a server. Throws `CommandFailure` if `baseUrl` is not a URL, or has a password, which it does not show. */
export function urlOn(baseUrl: string, path: string): URL {
  if (baseUrl.includes("@")) throw new CommandFailure(WITHOUT_USER);
  const url = URL.parse(baseUrl.replace(/\/+$/, "") + path);
  if (!url || !/^https?:$/.test(url.protocol)) throw noUrl(baseUrl);
  return url;
}

/** Failures show the URL, so it must hold no password; and the token is sent in the header that a password would need. */
const WITHOUT_USER = "the server's URL has a user or a password in it: leave both out, the token is enough";

function noUrl(text: string): CommandFailure {
  return new CommandFailure(`"${text}" is not a URL; one looks like http://127.0.0.1:8080`);
}

/**
 * Throws `CommandFailure` for a redirect, which is not followed (fetch with `redirect: "manual"`): the token is for one server
 * only, and what was to be stored there would be sent to another.
 */
export function refuseRedirect(baseUrl: string, { status, headers }: Response): void {
  const to = headers.get("location");
  if (status < 300 || status > 399 || to === null) return;
  const target = URL.parse(to, baseUrl);
  throw new CommandFailure(
    `${baseUrl} leads to ${target?.origin ?? to}: if that is the service, name it with --url or POSTRIDER_URL`,
  );
}

async function send(server: AdminServer, url: URL, request: RequestInit): Promise<Response> {
  if (!/^[\x21-\x7e]*$/.test(server.token))
    throw new CommandFailure(`this is no admin token; ${WHERE_TOKENS_ARE}`);
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  try {
    return await fetch(url, { ...request, ...pastProxy(url), redirect: "manual", signal });
  } catch (error) {
    throw new CommandFailure(notReached(server, error));
  }
}

const OWN_CA = "an authority of your own is trusted with NODE_EXTRA_CA_CERTS=ca.pem";

function notReached(server: AdminServer, error: unknown): string {
  const { baseUrl } = server;
  const { name, code, message } = error as { name?: string; code?: string; message?: string };
  if (name === "TimeoutError") return `${baseUrl} did not answer within ${TIME_LIMIT_MS / 1000} s`;
  if (code === "ConnectionRefused" || code === "ECONNREFUSED") {
    return (
      `nothing listens at ${baseUrl}: start the service (\`npm start\` or \`postrider serve\`), ` +
      `or name a running one with --url or POSTRIDER_URL${whoNamed(server)}`
    );
  }
  if (code === "ECONNRESET" && baseUrl.startsWith("http:")) {
    const secure = baseUrl.replace("http:", "https:");
    return `${baseUrl} closes the connection: if the service has a certificate, name ${secure} with --url or POSTRIDER_URL`;
  }
  const hint = /self.signed|issuer|verify the first/i.test(message ?? "") ? `; ${OWN_CA}` : "";
  return `${baseUrl} cannot be reached: ${fetchProblem(error)}${hint}`;
}

/** The first start wrote the file. Its process may have had another port, or not the role api. */
function whoNamed({ namedBy }: AdminServer): string {
  return namedBy === undefined ? "" : `; ${namedBy} names the address of the first start`;
}

async function readJson(response: Response, server: AdminServer): Promise<object> {
  const answer: unknown = await response.json().catch(() => undefined);
  // Every answer of Postrider is an object.
  if (typeof answer === "object" && answer !== null && !Array.isArray(answer)) return answer;
  const what = answer === undefined ? "something that is not JSON" : "JSON that is no object";
  throw notPostrider(server, `${response.status} with ${what}`);
}

function notPostrider({ baseUrl }: AdminServer, answer: string): CommandFailure {
  return new CommandFailure(
    `${baseUrl} answered ${answer}: is Postrider behind this address, and of this version?`,
  );
}

function isAboutMessage(answer: unknown): boolean {
  return (answer as { message?: unknown } | undefined)?.message === "message not found";
}

/** Second parts of paths that are not ids. */
const NOT_IDS = ["hosts", "import", "inbound", "messages", "parked", "replay", "secret", "test"];

/** @param path a noun, then an id or another part, if any */
function notFound(server: AdminServer, path: string, isAboutMessage: boolean): CommandFailure {
  const [noun = "", id] = path.split("/");
  if (noun === "messages" && id === "")
    return new CommandFailure("the id is empty: it is the `message_id` that the request was answered with");
  if (isAboutMessage) {
    return new CommandFailure(
      `there is no message ${decodeURIComponent(id ?? "")}: check id, account and channel; messages are kept for 7 days`,
    );
  }
  if (id === undefined || noun === "messages" || NOT_IDS.includes(id)) {
    return new CommandFailure(
      `${server.baseUrl} has no ${path}: is Postrider there, of this version and with the role api?${whoNamed(server)}`,
    );
  }
  const { all, key } = LISTS[noun] ?? { all: `${noun} list`, key: "id" };
  const what = id === "" ? `the ${key} is empty` : `there is no ${decodeURIComponent(id)} among the ${noun}`;
  return new CommandFailure(`${what}: \`${all}\` shows what there is`);
}

/** The command that lists the records of a noun, and the name of their key, if these are not `NOUN list` and id. */
const LISTS: Readonly<Record<string, { readonly all: string; readonly key: string }>> = {
  settings: { all: "settings get", key: "name" },
  webhooks: { all: "webhooks list --account ACCOUNT", key: "webhook-id" },
};

function refused({ status, headers }: Response, answer: unknown): CommandFailure {
  const { message, details } = (answer ?? {}) as { message?: unknown; details?: Record<string, string> };
  if (status === 401) return new CommandFailure(`the server refused the admin token; ${WHERE_TOKENS_ARE}`);
  const what = typeof message === "string" ? message : `the server answered ${status}`;
  return new CommandFailure(what + whatNow(status, headers.get("x-request-id")), details);
}

/** What to do after a failure that is not the fault of the request; "" for other failures. */
function whatNow(status: number, requestId: string | null): string {
  if (status === 503) return ": try again in a moment; if it stays so, the service's log says why";
  if (status !== 500 || requestId === null) return "";
  return `: the service's log says why, under the request id ${requestId}`;
}

export const WHERE_TOKENS_ARE =
  "it is `admin_token` in the sandbox.json that the first start wrote into the data folder; " +
  "set POSTRIDER_DATA to that folder, or give the token with --token or POSTRIDER_ADMIN_TOKEN";
