/** Speaks to the admin API. */
import { type Query, toQueryString } from "./place.ts";

export interface Client {
  /** Ends when the visit that asks has ended. */
  get<Answer>(path: string, query?: Query): Promise<Answer>;
  /** Goes on when the visit has ended: what was begun is done. */
  send<Answer>(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<Answer>;
}

/** The API has said no, or has not answered (`status` 0). */
export class Failure extends Error {
  readonly status: number;
  readonly details: Readonly<Record<string, string>>;

  constructor(status: number, message: string, details: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

/** One page of a list; `next` says where the following one begins. */
export interface Page<Row> {
  readonly data: readonly Row[];
  readonly next?: string;
}

/** Longer than any answer takes: testing a connector waits for a peer that may be silent. */
const ANSWER_WITHIN_MS = 90_000;

const ROWS_AT_ONCE = "500";

/**
 * `signIn` resolves when somebody has signed in. A request without a session waits for it and is made again: whatever the
 * page was about to do goes on, and a form keeps what was typed.
 */
export function createClient(signIn: () => Promise<void>, visit?: AbortSignal): Client {
  const request = async (url: string, init: RequestInit): Promise<unknown> => {
    for (;;) {
      const response = await ask(url, init);
      if (response.status !== 401) return read(response);
      await signIn();
    }
  };
  return {
    get: async <Answer>(path: string, query: Query = {}) =>
      (await request(`${urlOf(path)}${toQueryString(query)}`, visit ? { signal: visit } : {})) as Answer,
    send: async <Answer>(method: string, path: string, body?: unknown) =>
      (await request(urlOf(path), withBody(method, body))) as Answer,
  };
}

/** Signs in itself: a 401 is a wrong password here, no reason to ask for one. */
export async function openSession(password: string): Promise<void> {
  await read(await ask(urlOf("session"), withBody("POST", { password })));
}

/** Whether this browser has a session, perhaps opened in another tab. */
export async function hasSession(): Promise<boolean> {
  const answer = await ask(urlOf("session"), {}).catch(() => undefined);
  return answer?.ok ?? false;
}

/** `undefined`: it does not exist, or no longer. */
export async function getIfThere<Answer>(client: Client, path: string): Promise<Answer | undefined> {
  try {
    return await client.get<Answer>(path);
  } catch (error) {
    if (error instanceof Failure && error.status === 404) return undefined;
    throw error;
  }
}

/** The rows of a list, page by page, until there are `atMost`. */
export async function readAll<Row>(
  client: Client,
  path: string,
  { atMost, query }: { readonly atMost: number; readonly query?: Query },
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let after: string | undefined;
  do {
    const page: Page<Row> = await client.get(path, { ...query, limit: ROWS_AT_ONCE, after });
    rows.push(...page.data);
    after = page.next;
  } while (after !== undefined && rows.length < atMost);
  return rows;
}

function urlOf(path: string): string {
  return path.startsWith("/") ? path : `/admin/v1/${path}`;
}

function withBody(method: string, body: unknown): RequestInit {
  return body === undefined ? { method } : { method, body: JSON.stringify(body) };
}

async function ask(url: string, init: RequestInit): Promise<Response> {
  const limit = AbortSignal.timeout(ANSWER_WITHIN_MS);
  try {
    return await fetch(url, {
      ...init,
      credentials: "same-origin",
      // A form on another site cannot send this header: without it the service does not look at the cookie.
      headers: { "X-Postrider-Console": "1", ...(init.body ? { "Content-Type": "application/json" } : {}) },
      signal: init.signal ? AbortSignal.any([init.signal, limit]) : limit,
    });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Failure(0, "no answer from Postrider");
  }
}

async function read(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok && answer !== undefined) return answer;
  if (response.ok) throw new Failure(0, "half an answer");
  const { message, details } = (answer ?? {}) as { message?: string; details?: Record<string, string> };
  throw new Failure(response.status, `${message ?? ofProxy(response)}${hintOf(response)}`, details);
}

/** The service gives a message with nearly every refusal, and with each that the console can meet. */
function ofProxy({ status }: Response): string {
  const text = WORDS_OF_PROXIES[status];
  return `answer ${status}${text ? ` of a proxy in front of Postrider: ${text}` : ", perhaps of a proxy in front of Postrider"}`;
}

const WORDS_OF_PROXIES: Readonly<Record<number, string>> = {
  413: "it lets nothing so large through; raise its limit (of nginx: client_max_body_size)",
  502: "it cannot reach Postrider, which may be starting; try again",
  504: "it waited for Postrider in vain; see whether it was done before you try again",
};

/** When to try again; or the id under which the service's log has the cause. */
function hintOf({ status, headers }: Response): string {
  if (status === 429) return `; try again in ${headers.get("Retry-After") ?? 1} s`;
  return status === 500 ? ` (request ${headers.get("X-Request-Id")})` : "";
}
