/** The door: finds the endpoint of a request, and turns whatever becomes of it into an answer. */
import { turns } from "../core/turns.ts";
import { OutcomeUnknown, StoreUnavailable } from "../store/store.ts";
import type { Answer, Answered } from "./answer.ts";
import {
  type AnswerRequest,
  type AppDeps,
  DEFAULT_LIMITS,
  type DoorDeps,
  type MessageAppDeps,
} from "./app-deps.ts";
import { CORS_HEADERS, preflightResponse } from "./cors.ts";
import type { Endpoint } from "./endpoint.ts";
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
import { HandedOn } from "./handed-on.ts";
import { isProbe } from "./health.ts";
import { createRateLimiter } from "./limits/rate-limit.ts";
import { createDirectory } from "./records/directory.ts";
import { requestIdOf } from "./request-id.ts";
import { createRouter, type Match, pathOf } from "./router.ts";
import { type Arrival, createRunner } from "./run-endpoint.ts";
import type { MaybePromise } from "./when-ready.ts";

export interface App {
  readonly fetch: AnswerRequest;
}

/** The whole interface. */
export function createApp(deps: AppDeps): App {
  const parts = createParts(deps);
  return createDoor(deps, { ...parts, endpoints: allEndpoints(deps, parts) });
}

/** Send and Get; every other request is handed on. */
export function createMessageApp(deps: MessageAppDeps): App {
  const parts = createParts(deps);
  return createDoor(deps, { ...parts, endpoints: messageEndpoints(deps, parts) });
}

function createParts(deps: DoorDeps): EndpointParts {
  return { directory: createDirectory(deps), limiter: createRateLimiter(deps.clock) };
}

interface DoorParts extends EndpointParts {
  readonly endpoints: readonly Endpoint[];
}

function createDoor(deps: DoorDeps & Partial<MessageAppDeps>, { endpoints, limiter }: DoorParts): App {
  const { clock, ids, elsewhere } = deps;
  const { maxInFlight } = { ...DEFAULT_LIMITS, ...deps.limits };
  const route = createRouter(endpoints);
  const run = createRunner(deps, limiter);
  const refuse = createErrorHandler(deps);
  let inFlight = 0;

  const answer = (request: Request, match: Match, arrival: Arrival): MaybePromise<Answered> => {
    if (match.kind === "unknown") throw notFound();
    if (match.kind === "wrong_method") return otherMethod(request.method, match);
    if ((inFlight > maxInFlight || deps.isDraining()) && !isProbe(match.endpoint)) throw serviceUnavailable();
    return run(match, request, arrival);
  };

  return {
    async fetch(request, addressOf) {
      const startedMs = clock.monotonicMs();
      const { method } = request;
      // One that has a body waits for its turn when that is there.
      if (method === "GET") await new Promise<void>(turns.inStep);
      const arrival: Arrival = { requestId: requestIdOf(request.headers) ?? ids(), addressOf };
      const match = route(method, pathOf(request.url));
      if (elsewhere && match.kind !== "found") return elsewhere(request, addressOf);
      inFlight++;
      let answered: MaybePromise<Answered>;
      try {
        answered = answer(request, match, arrival);
        if (answered instanceof Promise) answered = await answered;
      } catch (error) {
        if (error instanceof HandedOn && elsewhere) {
          inFlight--;
          return handOn(elsewhere, error, { request, addressOf });
        }
        answered = refuse(error, arrival.requestId);
      }
      inFlight--;
      const visit: Visit = { method, match, arrival };
      const response = toResponse(answered, visit, deps.isDraining());
      observe(deps, visit, { status: answered.status, ms: clock.monotonicMs() - startedMs });
      return response;
    },
  };
}

interface Came {
  readonly request: Request;
  readonly addressOf: (request: Request) => string;
}

/** As it came: its address is that of the request whose body was read. */
function handOn(elsewhere: AnswerRequest, error: HandedOn, { request, addressOf }: Came): Promise<Response> {
  return elsewhere(error.restore(request), () => addressOf(request));
}

type Preflight = Extract<Match, { kind: "wrong_method" }>;

function otherMethod(method: string, { allow, cors }: Preflight): Response {
  if (method === "OPTIONS" && cors) return preflightResponse(allow);
  throw methodNotAllowed(allow);
}

/** An outage is told to the log once a second: there is one cause, and a line for every client would bury it. */
const OUTAGE_LOG_GAP_MS = 1000;

function createErrorHandler({ log, clock }: DoorDeps): (error: unknown, requestId: string) => Response {
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

interface Visit {
  readonly method: string;
  readonly match: Match;
  readonly arrival: Arrival;
}

/** With what every answer carries, whoever made it. Of an answer to HEAD the server leaves the body out. */
function toResponse(answered: Answered, { match, arrival }: Visit, isDraining: boolean): Response {
  const { requestId } = arrival;
  const response =
    answered instanceof Response ? withRequestId(answered, requestId) : make(answered, requestId);
  if (isDraining) response.headers.set("Connection", "close");
  if (match.kind === "found" ? match.endpoint.cors : match.kind === "wrong_method" && match.cors) {
    for (const [name, value] of Object.entries(CORS_HEADERS)) response.headers.set(name, value);
  }
  return response;
}

function withRequestId(response: Response, requestId: string): Response {
  response.headers.set("X-Request-Id", requestId);
  return response;
}

function make({ status, json }: Answer, requestId: string): Response {
  JSON_HEADERS.set("X-Request-Id", requestId);
  return new Response(json, { status, headers: JSON_HEADERS });
}

/** Each `Response` copies them, which costs less than making them anew. */
const JSON_HEADERS = new Headers({ "Content-Type": "application/json" });

function observe(
  { onRequest, log }: DoorDeps,
  { method, match, arrival }: Visit,
  { status, ms }: { readonly status: number; readonly ms: number },
): void {
  const endpoint = match.kind === "found" ? match.endpoint : undefined;
  onRequest({ operation: endpoint?.operation ?? "none", status, ms });
  if (!log.isDebug()) return;
  const { requestId, accountId } = arrival;
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
