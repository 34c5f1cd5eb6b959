import type { Answer, Answered } from "./answer.ts";
import { CORS_HEADERS } from "./cors.ts";
import type { Match } from "./router.ts";
import type { RequestContext } from "./run-endpoint.ts";

/** A request, and what the router has found for it. */
export interface RoutedRequest {
  readonly method: string;
  readonly match: Match;
  readonly context: RequestContext;
}

/**
 * Adds the headers that every response has. Unless an answer says otherwise, no cache may keep it: one URL has a different
 * answer for each account, and caches expect that only with `Authorization` (RFC 9111 §3.5), not with `X-API-Key`. The
 * server itself drops the body of a response to HEAD.
 */
export function toResponse(
  answered: Answered,
  { match, context: { requestId } }: RoutedRequest,
  isLast: boolean,
): Response {
  const response =
    answered instanceof Response ? withOwnHeaders(answered, requestId) : jsonResponse(answered, requestId);
  if (isLast) response.headers.set("Connection", "close");
  if (match.kind === "found" ? match.endpoint.cors : match.kind === "wrong_method" && match.cors) {
    for (const [name, value] of Object.entries(CORS_HEADERS)) response.headers.set(name, value);
  }
  return response;
}

function withOwnHeaders(response: Response, requestId: string): Response {
  const { headers } = response;
  headers.set("X-Request-Id", requestId);
  if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
  return response;
}

function jsonResponse({ status, json }: Answer, requestId: string): Response {
  JSON_HEADERS.set("X-Request-Id", requestId);
  return new Response(json, { status, headers: JSON_HEADERS });
}

/** Reused: each `Response` copies them, which costs less than new `Headers`. */
const JSON_HEADERS = new Headers({ "Content-Type": "application/json", "Cache-Control": "no-store" });
