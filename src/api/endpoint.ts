import type { TSchema } from "typebox";
import type { KeyOwner } from "../core/records/api-key.ts";
import type { Answered } from "./answer.ts";
import type { MaybePromise } from "./when-ready.ts";

/**
 * One row of the route table. The router dispatches from it, `/openapi.json` is generated from it, and nothing
 * else knows which paths exist.
 */
export interface Endpoint {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With parameters in braces, for example `/v1/sms/messages/{message_id}`. */
  readonly path: string;
  /** Other paths that are the same operation, kept for older clients. */
  readonly aliases?: readonly string[];
  /** Names the operation: OpenAPI's operationId and the scope of idempotency keys. */
  readonly operation: string;
  readonly summary: string;
  readonly tag: string;
  readonly auth: "api-key" | "admin" | "none";
  readonly request?: RequestBody;
  /** Takes a body of any media type, as text. Replaces `request`. */
  readonly rawBody?: { readonly maxBytes: number };
  readonly query?: Readonly<Record<string, TSchema>>;
  /** By status; `/openapi.json` adds the errors that all endpoints share. */
  readonly responses: Readonly<Record<number, DescribedAnswer>>;
  /** Answers cross-origin requests of browsers (push endpoints). */
  readonly cors?: boolean;
  /** Takes an `Idempotency-Key`. */
  readonly idempotent?: boolean;
  /** May keep its client waiting (long-poll). Only with `auth` `api-key`; its calls have `longPoll`. */
  readonly waits?: boolean;
  handle(call: Call): MaybePromise<Answered>;
}

interface RequestBody {
  readonly schema: TSchema;
  readonly maxBytes: number;
  /** Whether a request without a body is taken, as one with an empty object. */
  readonly mayBeAbsent?: boolean;
}

/** Whether the endpoint takes a body. If so, the body has been read to its end before `handle` is called. */
export function takesBody({ request, rawBody }: Endpoint): boolean {
  return request !== undefined || rawBody !== undefined;
}

interface DescribedAnswer {
  readonly description: string;
  readonly schema?: TSchema;
  /** The media type of what `schema` describes; absent: JSON. */
  readonly mediaType?: string;
}

/** One request on its way through an endpoint. */
export interface Call {
  /** That of the endpoint. */
  readonly operation: string;
  readonly headers: Headers;
  readonly params: Readonly<Record<string, string>>;
  /** Empty if the endpoint declares no `query`. */
  readonly query: URLSearchParams;
  /** The client's address, by `X-Forwarded-For` if a trusted proxy sent it; "" unless `auth` is `none`. */
  readonly clientAddress: string;
  /** Unix milliseconds when the request had arrived, with all of its body. */
  readonly now: number;
  /** Present exactly where `auth` is `api-key`. */
  readonly caller?: KeyOwner;
  /** The parsed body (an object) and its exact text; present exactly where the endpoint declares `request`. */
  readonly body?: { readonly json: Readonly<Record<string, unknown>>; readonly text: string };
  /** Present exactly where the endpoint `waits`. */
  readonly longPoll?: LongPoll;
  /** The request with its body as text; present exactly where the endpoint declares `rawBody`. */
  readonly raw?: { readonly method: string; readonly url: string; readonly text: string };
}

/** What an endpoint needs that waits for news. */
export interface LongPoll {
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
  /** Runs a read of one page when its turn comes, among those of all lists. */
  readonly inTurn: <T>(read: () => MaybePromise<T>) => Promise<T>;
  /** Refuses a key that has been revoked since. */
  readonly authenticateAgain: () => MaybePromise<KeyOwner>;
}
