/** The door: finds the endpoint of a request, and turns whatever becomes of it into an answer. */
import { StoreUnavailable } from "../store/store.ts";
import { type AppDeps, DEFAULT_LIMITS } from "./app-deps.ts";
import { CORS_HEADERS, preflightResponse } from "./cors.ts";
import { createDirectory } from "./directory.ts";
import { allEndpoints } from "./endpoints.ts";
import {
  internalError,
  methodNotAllowed,
  notFound,
  Refusal,
  refusalResponse,
  serviceUnavailable,
} from "./errors.ts";
import { isProbe } from "./health.ts";
import { createRateLimiter } from "./rate-limit.ts";
import { requestIdOf } from "./request-id.ts";
import { createRouter, type Match, pathOf } from "./router.ts";
import { type Arrival, createRunner } from "./run-endpoint.ts";

export interface App {
  /** Answers every request; never rejects. `peer.address` is that of the other end of the connection. */
  fetch(request: Request, peer: { readonly address: string }): Promise<Response>;
}

export function createApp(deps: AppDeps): App {
  const { clock, ids } = deps;
  const { maxInFlight } = { ...DEFAULT_LIMITS, ...deps.limits };
  const limiter = createRateLimiter(clock);
  const route = createRouter(allEndpoints(deps, { directory: createDirectory(deps), limiter }));
  const run = createRunner(deps, limiter);
  const refuse = createErrorHandler(deps);
  let inFlight = 0;

  const answer = (request: Request, match: Match, arrival: Arrival) => {
    if (match.kind === "unknown") throw notFound();
    if (match.kind === "wrong_method") return otherMethod(request.method, match);
    if ((inFlight > maxInFlight || deps.isDraining()) && !isProbe(match.endpoint)) throw serviceUnavailable();
    return run(match, request, arrival);
  };

  return {
    async fetch(request, peer) {
      const startedMs = clock.monotonicMs();
      const arrival: Arrival = { requestId: requestIdOf(request.headers) ?? ids(), peer };
      const match = route(request.method, pathOf(request.url));
      inFlight++;
      let response: Response;
      try {
        response = await answer(request, match, arrival);
      } catch (error) {
        response = refuse(error, arrival.requestId);
      }
      inFlight--;
      const finished = finish(response, { request, match, arrival, isDraining: deps.isDraining() });
      observe(deps, {
        request,
        match,
        arrival,
        status: finished.status,
        ms: clock.monotonicMs() - startedMs,
      });
      return finished;
    },
  };
}

type Preflight = Extract<Match, { kind: "wrong_method" }>;

function otherMethod(method: string, { allow, cors }: Preflight): Response {
  if (method === "OPTIONS" && cors) return preflightResponse(allow);
  throw methodNotAllowed(allow);
}

/** An outage is told to the log once a second: there is one cause, and a line for every client would bury it. */
const OUTAGE_LOG_GAP_MS = 1000;

function createErrorHandler({ log, clock }: AppDeps): (error: unknown, requestId: string) => Response {
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
    return refusalResponse(serviceUnavailable());
  };
}

interface Finished {
  readonly request: Request;
  readonly match: Match;
  readonly arrival: Arrival;
}

/** What every answer carries, whoever made it. */
function finish(
  response: Response,
  { request, match, arrival, isDraining }: Finished & { isDraining: boolean },
): Response {
  const { headers } = response;
  headers.set("X-Request-Id", arrival.requestId);
  if (isDraining) headers.set("Connection", "close");
  if (match.kind === "found" ? match.endpoint.cors : match.kind === "wrong_method" && match.cors) {
    for (const [name, value] of Object.entries(CORS_HEADERS)) headers.set(name, value);
  }
  return request.method === "HEAD" ? new Response(null, { status: response.status, headers }) : response;
}

function observe(
  { onRequest, log }: AppDeps,
  { request, match, arrival, status, ms }: Finished & { status: number; ms: number },
): void {
  const endpoint = match.kind === "found" ? match.endpoint : undefined;
  onRequest({ operation: endpoint?.operation ?? "none", status, ms });
  if (!log.isDebug()) return;
  const { requestId, accountId } = arrival;
  log.debug(
    {
      method: request.method,
      path: endpoint?.path ?? "none",
      status,
      ms: Math.round(ms * 1000) / 1000,
      request_id: requestId,
      ...(accountId !== undefined && { account_id: accountId }),
    },
    "request",
  );
}
