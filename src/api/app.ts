/** The HTTP application: finds the endpoint of a request, runs it, and turns its answer or error into a response. */
import { turnEnd } from "../core/work/turn-end.ts";
import type { Answered } from "./answer.ts";
import { createAnswerPace } from "./answer-pace.ts";
import {
  type AnswerRequest,
  type AnyAppDeps,
  type AppDeps,
  DEFAULT_LIMITS,
  type HandlerDeps,
  type MessageAppDeps,
} from "./app-deps.ts";
import { createDropBody, type DropBody } from "./body/drop-body.ts";
import { preflightResponse } from "./cors.ts";
import { type Endpoint, takesBody } from "./endpoint.ts";
import { allEndpoints, type EndpointParts, messageEndpoints } from "./endpoints.ts";
import { createErrorHandler } from "./error-handler.ts";
import { methodNotAllowed, notFound, serviceUnavailable, unclearHost } from "./errors.ts";
import { Forwarded } from "./forwarded.ts";
import { isProbe } from "./health.ts";
import { createRateLimiter } from "./limits/rate-limit.ts";
import { createDirectory } from "./records/directory.ts";
import { requestIdOf } from "./request-id.ts";
import { createRouter, type Match, pathOf } from "./router.ts";
import { createRunner, type RequestContext } from "./run-endpoint.ts";
import { type RoutedRequest, toResponse } from "./to-response.ts";
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
  const paced = { ...deps, forward: withPace(deps.forward, parts.dropBody) };
  return createHandler(paced, { ...parts, endpoints: messageEndpoints(deps, parts) });
}

/**
 * The other listener limits its answers per turn too, but answers of several of its turns may arrive here in a single one. Nor does
 * it see what this one keeps back of a body, as that of a GET.
 */
function withPace(forward: AnswerRequest, dropBody: DropBody): AnswerRequest {
  const pace = createAnswerPace();
  return async (request, addressOf) => {
    const response = await forward(request, addressOf);
    if (!(await receiveRest(request, response, dropBody))) response.headers.set("Connection", "close");
    await pace();
    return response;
  };
}

interface SharedParts extends EndpointParts {
  readonly dropBody: DropBody;
}

function createParts(deps: HandlerDeps): SharedParts {
  const { clock } = deps;
  return {
    directory: createDirectory(deps),
    limiter: createRateLimiter(clock),
    dropBody: createDropBody(clock),
  };
}

interface HandlerParts extends SharedParts {
  readonly endpoints: readonly Endpoint[];
}

function createHandler(deps: AnyAppDeps, { endpoints, limiter, dropBody }: HandlerParts): App {
  const { clock, ids, forward } = deps;
  const { maxInFlight } = { ...DEFAULT_LIMITS, ...deps.limits };
  const route = createRouter(endpoints);
  const run = createRunner(deps, limiter);
  const refuse = createErrorHandler(deps);
  const pace = createAnswerPace();
  let inFlight = 0;

  const answer = (request: Request, match: Match, context: RequestContext): MaybePromise<Answered> => {
    if (isHostUnclear(request)) throw unclearHost();
    if (match.kind !== "found") return withoutEndpoint(request.method, match);
    if ((inFlight > maxInFlight || deps.isDraining()) && !isProbe(match.endpoint)) throw serviceUnavailable();
    return run(match, request, context);
  };

  return {
    async fetch(request, addressOf) {
      const startedMs = clock.monotonicMs();
      const { method } = request;
      // Requests with a body wait for the end of the turn in the body reader, once the body has arrived.
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
      const isReceived = isBodyRead(match, answered) || (await receiveRest(request, answered, dropBody));
      // After `dropBody`, whose time limit may end for many clients in the same turn.
      const place = isBodyRead(match, answered) ? undefined : pace();
      if (place) await place;
      const routed: RoutedRequest = { method, match, context };
      const response = toResponse(answered, routed, !isReceived || deps.isLeaving());
      observe(deps, routed, { status: answered.status, ms: clock.monotonicMs() - startedMs });
      return response;
    },
  };
}

/**
 * Whether there are two Host headers, which the listener joins with a comma and a blank, or one with a blank in it. Both are to be
 * refused (RFC 9112 §3.2): a proxy may have gone by the one host, and whoever reads the request behind it by the other.
 */
function isHostUnclear({ headers }: Request): boolean {
  return headers.get("host")?.includes(" ") === true;
}

/**
 * Receives what is left of a request, before it is answered. False if the answer has to be the last on its connection, as it is by
 * itself where so much of a body is still to come that nobody waits for it.
 */
function receiveRest(request: Request, answered: Answered, dropBody: DropBody): MaybePromise<boolean> {
  const isLast = answered instanceof Response && answered.headers.get("connection") === "close";
  return !isLast && dropBody(request);
}

/** Whether the body has surely arrived: not if the request was refused, perhaps before that, or if its endpoint takes no body. */
function isBodyRead(match: Match, { status }: Answered): boolean {
  return status < 400 && match.kind === "found" && takesBody(match.endpoint);
}

type Unmatched = Exclude<Match, { kind: "found" }>;

/** Answers the preflight of a cross-origin request, and refuses all other methods, and unknown paths. */
function withoutEndpoint(method: string, match: Unmatched): Response {
  if (match.kind === "unknown") throw notFound();
  if (method === "OPTIONS" && match.cors) return preflightResponse(match.allow);
  throw methodNotAllowed(match.allow);
}

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
