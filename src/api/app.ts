/** The HTTP application: finds the endpoint of a request, runs it, and turns its answer or error into a response. */
import { turnEnd } from "../core/work/turn-end.ts";
import { OutcomeUnknown, StoreUnavailable } from "../store/store.ts";
import type { Answer, Answered } from "./answer.ts";
import { createAnswerPace } from "./answer-pace.ts";
import {
  type AnswerRequest,
  type AnyAppDeps,
  type AppDeps,
  DEFAULT_LIMITS,
  type HandlerDeps,
  type MessageAppDeps,
} from "./app-deps.ts";
import { dropBody, isLastRequest } from "./body/drop-body.ts";
import { CORS_HEADERS, preflightResponse } from "./cors.ts";
import { type Endpoint, hasBody } from "./endpoint.ts";
import { allEndpoints, type EndpointParts, messageEndpoints } from "./endpoints.ts";
import {
  internalError,
  methodNotAllowed,
  notFound,
  outcomeUnknown,
  Refusal,
  refusalResponse,
  serviceUnavailable,
} from "./errors.ts";
import { Forwarded } from "./forwarded.ts";
import { isProbe } from "./health.ts";
import { createRateLimiter } from "./limits/rate-limit.ts";
import { createDirectory } from "./records/directory.ts";
import { requestIdOf } from "./request-id.ts";
import { createRouter, type Match, pathOf } from "./router.ts";
import { createRunner, type RequestContext } from "./run-endpoint.ts";
import type { MaybePromise } from "./when-ready.ts";

/** Answers the requests of one listener. */
export interface App {
  readonly fetch: AnswerRequest;
}

/** Serves all endpoints. */
export function createApp(deps: AppDeps): App {
  const parts = createParts(deps);
  return createHandler(deps, { ...parts, endpoints: allEndpoints(deps, parts) });
}

/** Serves Send and Get, and the files of `/docs`; forwards every other request. */
export function createMessageApp(deps: MessageAppDeps): App {
  const parts = createParts(deps);
  const paced = { ...deps, forward: withPace(deps.forward) };
  return createHandler(paced, { ...parts, endpoints: messageEndpoints(deps, parts) });
}

/** The other listener limits its answers per turn too, but answers from several of its turns may arrive here in one. */
function withPace(forward: AnswerRequest): AnswerRequest {
  const pace = createAnswerPace();
  return async (request, addressOf) => {
    const response = await forward(request, addressOf);
    await pace();
    return response;
  };
}

function createParts(deps: HandlerDeps): EndpointParts {
  return { directory: createDirectory(deps), limiter: createRateLimiter(deps.clock) };
}

interface HandlerParts extends EndpointParts {
  readonly endpoints: readonly Endpoint[];
}

function createHandler(deps: AnyAppDeps, { endpoints, limiter }: HandlerParts): App {
  const { clock, ids, forward } = deps;
  const { maxInFlight } = { ...DEFAULT_LIMITS, ...deps.limits };
  const route = createRouter(endpoints);
  const run = createRunner(deps, limiter);
  const refuse = createErrorHandler(deps);
  const pace = createAnswerPace();
  let inFlight = 0;

  const answer = (request: Request, match: Match, context: RequestContext): MaybePromise<Answered> => {
    if (match.kind === "unknown") throw notFound();
    if (match.kind === "wrong_method") return otherMethod(request.method, match);
    if ((inFlight > maxInFlight || deps.isDraining()) && !isProbe(match.endpoint)) throw serviceUnavailable();
    return run(match, request, context);
  };

  return {
    async fetch(request, addressOf) {
      const startedMs = clock.monotonicMs();
      const { method } = request;
      // Requests with a body wait for it in the body reader, once the body has arrived.
      if (method === "GET") await new Promise<void>(turnEnd.first);
      const context: RequestContext = { requestId: requestIdOf(request.headers) ?? ids(), addressOf };
      const match = route(method, pathOf(request.url));
      if (forward && match.kind !== "found") return forward(request, addressOf);
      inFlight++;
      let answered: MaybePromise<Answered>;
      try {
        answered = answer(request, match, context);
        if (answered instanceof Promise) answered = await answered;
      } catch (error) {
        if (error instanceof Forwarded && forward) {
          inFlight--;
          // This may be a copy, since the body was read: only the original has a client address.
          return forward(error.restore(request), () => addressOf(request));
        }
        answered = refuse(error, context.requestId);
      }
      inFlight--;
      if (answered.status >= 400 && isLastRequest(request)) await dropBody(request, clock);
      // After `dropBody`, since its time limit may end for many clients in the same turn.
      const place = isBodyRead(match, answered) ? undefined : pace();
      if (place) await place;
      const routed: RoutedRequest = { method, match, context };
      const response = toResponse(answered, routed, deps.isDraining());
      observe(deps, routed, { status: answered.status, ms: clock.monotonicMs() - startedMs });
      return response;
    },
  };
}

/** Whether the body has arrived for certain. A refusal may have come before, and endpoints without a body do not wait for one. */
function isBodyRead(match: Match, { status }: Answered): boolean {
  return status < 400 && match.kind === "found" && hasBody(match.endpoint);
}

type WrongMethod = Extract<Match, { kind: "wrong_method" }>;

/** Answers the preflight of a cross-origin request, and refuses all other methods. */
function otherMethod(method: string, { allow, cors }: WrongMethod): Response {
  if (method === "OPTIONS" && cors) return preflightResponse(allow);
  throw methodNotAllowed(allow);
}

/** An outage is logged once a second: it has one cause, and a line for every request would bury it. */
const OUTAGE_LOG_GAP_MS = 1000;

function createErrorHandler({ log, clock }: HandlerDeps): (error: unknown, requestId: string) => Response {
  let outageLoggedAt = -Infinity;

  return (error, requestId) => {
    if (error instanceof Refusal) return refusalResponse(error);
    const fields = { request_id: requestId, error: error instanceof Error ? error.stack : String(error) };
    if (!(error instanceof StoreUnavailable)) {
      log.error(fields, "request failed");
      return refusalResponse(internalError());
    }
    if (clock.monotonicMs() - outageLoggedAt >= OUTAGE_LOG_GAP_MS) {
      outageLoggedAt = clock.monotonicMs();
      log.error(fields, "database unavailable");
    }
    return refusalResponse(error instanceof OutcomeUnknown ? outcomeUnknown() : serviceUnavailable());
  };
}

interface RoutedRequest {
  readonly method: string;
  readonly match: Match;
  readonly context: RequestContext;
}

/**
 * Adds the headers that every response has. No cache may keep an answer that does not say otherwise: many accounts ask one
 * URL, and caches know that only of those who send `Authorization` (RFC 9111 §3.5), and not `X-API-Key`. The server itself
 * leaves out the body of a response to HEAD.
 */
function toResponse(answered: Answered, { match, context }: RoutedRequest, isDraining: boolean): Response {
  const { requestId } = context;
  const response =
    answered instanceof Response ? withOwnHeaders(answered, requestId) : jsonResponse(answered, requestId);
  if (isDraining) response.headers.set("Connection", "close");
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

function observe(
  { onRequest, log }: HandlerDeps,
  { method, match, context }: RoutedRequest,
  { status, ms }: { readonly status: number; readonly ms: number },
): void {
  const endpoint = match.kind === "found" ? match.endpoint : undefined;
  onRequest({ operation: endpoint?.operation ?? "none", status, ms });
  if (!log.isDebug()) return;
  const { requestId, accountId } = context;
  log.debug(
    {
      method,
      path: endpoint?.path ?? "none",
      status,
      ms: Math.round(ms * 1000) / 1000,
      request_id: requestId,
      ...(accountId !== undefined && { account_id: accountId }),
    },
    "request",
  );
}
