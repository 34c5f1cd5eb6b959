/** What happens to a request between the router and its endpoint. */

import { unknownName } from "../core/body/unknown-name.ts";
import { addressBlock } from "../core/network/address-block.ts";
import type { KeyOwner } from "../core/records/api-key.ts";
import type { Writable } from "../core/writable.ts";
import type { Answered } from "./answer.ts";
import { type AnyAppDeps, DEFAULT_LIMITS, type HandlerDeps } from "./app-deps.ts";
import { type Authenticator, createAuthenticator } from "./authenticate.ts";
import type { BodyClient } from "./body/body-budget.ts";
import { parseJsonObject } from "./body/parse-json-object.ts";
import { type BodyRule, createBodyReader } from "./body/read-body.ts";
import type { ReadBody } from "./body/readings.ts";
import { clientAddress } from "./client-address.ts";
import { unlessClientGone } from "./client-gone.ts";
import { type Call, type Endpoint, type LongPoll, takesBody } from "./endpoint.ts";
import { Refusal, validationFailed } from "./errors.ts";
import { Forwarded } from "./forwarded.ts";
import { replayOrRefuse } from "./idempotency.ts";
import { accountLimits } from "./limits/account-limits.ts";
import { countRequest } from "./limits/count-request.ts";
import type { RateLimiter } from "./limits/rate-limit.ts";
import { createListLimit } from "./lists/list-limit.ts";
import { type Match, queryOf } from "./router.ts";
import { type MaybePromise, whenReady } from "./when-ready.ts";

/** What every request has, whatever its endpoint. `accountId` is filled in later, for the log. */
export interface RequestContext {
  readonly requestId: string;
  readonly addressOf: (request: Request) => string;
  accountId?: string;
}

type Found = Extract<Match, { kind: "found" }>;
type Runner = (found: Found, request: Request, context: RequestContext) => MaybePromise<Answered>;

/** Runs an endpoint for a request: authenticates, counts against rate limits, reads the body. Throws a `Refusal`. */
export function createRunner(deps: AnyAppDeps, limiter: RateLimiter): Runner {
  const { clock, isTrustedProxy } = deps;
  const authenticator = createAuthenticator(deps);
  const admit = createAdmission(deps, authenticator, limiter);
  const runWithBody = createBodyRunner(deps, authenticator);
  const listLimit = createListLimit(clock);

  const run = (found: Found, incoming: Incoming, caller: KeyOwner | undefined): MaybePromise<Answered> => {
    const { endpoint } = found;
    const { request, context } = incoming;
    const call = openCall(found, request, clock.now());
    if (endpoint.auth === "none") call.clientAddress = addressOf(incoming, isTrustedProxy);
    if (caller) {
      context.accountId = caller.account.id;
      call.caller = caller;
    }
    const inTurn: InTurn = (read) => listLimit.run(caller?.account.id, read);
    if (endpoint.waits) call.longPoll = openLongPoll(request, { authenticator, inTurn });
    if (takesBody(endpoint)) return runWithBody(endpoint, request, call);
    const handle = () => endpoint.handle(call);
    const answer = () => (endpoint.query && !endpoint.waits ? inTurn(handle) : handle());
    return endpoint.method === "GET" ? answer() : unlessClientGone(request, answer);
  };
  const runAdmitted = async (found: Found, incoming: Incoming, caller: Promise<KeyOwner | undefined>) =>
    run(found, incoming, await caller);

  return (found, request, context) => {
    const caller = admit(found.endpoint, request.headers);
    const incoming = { request, context };
    return caller instanceof Promise ? runAdmitted(found, incoming, caller) : run(found, incoming, caller);
  };
}

interface Incoming {
  readonly request: Request;
  readonly context: RequestContext;
}

type InTurn = LongPoll["inTurn"];

interface LongPollParts {
  readonly authenticator: Authenticator;
  readonly inTurn: InTurn;
}

/** A long-poll takes its turn for each read, and holds none while it waits for news. */
function openLongPoll({ signal, headers }: Request, { authenticator, inTurn }: LongPollParts): LongPoll {
  return { signal, inTurn, authenticateAgain: () => authenticator.apiKey(headers) };
}

type Admission = (endpoint: Endpoint, headers: Headers) => MaybePromise<KeyOwner | undefined>;

function createAdmission(deps: AnyAppDeps, authenticator: Authenticator, limiter: RateLimiter): Admission {
  const count = (caller: KeyOwner): KeyOwner => {
    const limits = accountLimits(caller);
    if (limits.length === 0) return caller;
    if (deps.forward) throw new Forwarded();
    countRequest(limiter, ...limits);
    return caller;
  };

  return ({ auth }, headers) => {
    if (auth === "none") return undefined;
    if (auth === "admin") return authenticator.admin(headers);
    return whenReady(authenticator.apiKey(headers), count);
  };
}

type BodyRunner = (endpoint: Endpoint, request: Request, call: PendingCall) => Promise<Answered>;

/** If a body takes longer than this to arrive, its request is authenticated again: the key may have been revoked meanwhile. */
const SLOW_BODY_MS = 50;

function createBodyRunner(
  { clock, store, limits, readLargeJson }: HandlerDeps,
  authenticator: Authenticator,
): BodyRunner {
  const bodies = createBodyReader(clock, { ...DEFAULT_LIMITS, ...limits }, readLargeJson);

  const authenticateAgain = async ({ auth }: Endpoint, call: PendingCall): Promise<void> => {
    if (auth === "admin") await authenticator.admin(call.headers);
    if (auth === "api-key") call.caller = await authenticator.apiKey(call.headers);
  };

  return async (endpoint, request, call) => {
    // Absent if the body is refused while it is read.
    let body: ReadBody | undefined;
    const startedMs = clock.monotonicMs();
    try {
      body = await bodies.read(request, bodyRuleOf(endpoint), clientOf(endpoint, call));
      if (clock.monotonicMs() - startedMs > SLOW_BODY_MS) await authenticateAgain(endpoint, call);
      // Otherwise a body that arrives slowly would use up the delivery window of its own message.
      call.now = clock.now();
      if (endpoint.rawBody) call.raw = { method: request.method, url: request.url, text: body.text };
      else call.body = parseBody(body, endpoint);
      const answered = endpoint.handle(call);
      return answered instanceof Promise ? await answered : answered;
    } catch (error) {
      if (error instanceof Forwarded) throw new Forwarded(call.body?.text);
      if (error instanceof Refusal && error.status === 400 && endpoint.idempotent)
        return await replayOrRefuse(store.intake, call, error);
      throw error;
    } finally {
      if (body) bodies.release(body);
    }
  };
}

function bodyRuleOf({ request, rawBody }: Endpoint): BodyRule {
  return {
    maxBytes: (request ?? rawBody)?.maxBytes ?? 0,
    isRaw: rawBody !== undefined,
    mayBeAbsent: request?.mayBeAbsent ?? false,
  };
}

function parseBody(
  { text, parsed = parseJsonObject(text) }: ReadBody,
  { request }: Endpoint,
): NonNullable<Call["body"]> {
  if (text === "" && request?.mayBeAbsent) return { json: {}, text };
  if ("problem" in parsed) throw validationFailed(parsed.problem);
  return { json: parsed.json, text };
}

/** The client whose share of the body budget the body takes. All operators together are one client, named "". */
function clientOf({ auth }: Endpoint, { caller, clientAddress }: PendingCall): BodyClient {
  if (auth === "none") return { name: addressBlock(clientAddress), isAnonymous: true };
  return { name: caller?.account.id ?? "", isAnonymous: false };
}

/** A call that is still being filled in. */
type PendingCall = Writable<Call>;

const NO_QUERY = new URLSearchParams();
const trustsNone = () => false;

function openCall({ endpoint, params }: Found, request: Request, now: number): PendingCall {
  return {
    operation: endpoint.operation,
    headers: request.headers,
    params,
    now,
    query: endpoint.query ? queryFor(endpoint.query, request.url) : NO_QUERY,
    clientAddress: "",
  };
}

/**
 * Refuses a parameter that is unknown, as a misspelt one is, or given twice: it would not be used, but the answer would look as
 * if it were. An endpoint that takes none ignores all.
 */
function queryFor(parameters: NonNullable<Endpoint["query"]>, url: string): URLSearchParams {
  const query = queryOf(url);
  const known = Object.keys(parameters);
  const unknown = [...new Set(query.keys())].filter((name) => !known.includes(name)).slice(0, MAX_UNKNOWN);
  const repeated = known.filter((name) => query.getAll(name).length > 1);
  if (unknown.length > 0 || repeated.length > 0)
    throw validationFailed(
      Object.fromEntries([
        ...unknown.map((name) => [name, unknownName(name, known)]),
        ...repeated.map((name) => [name, "must be given only once"]),
      ]),
    );
  return query;
}

/** How many unknown parameters a refusal names. */
const MAX_UNKNOWN = 20;

function addressOf(
  { request, context }: Incoming,
  isTrustedProxy: HandlerDeps["isTrustedProxy"] = trustsNone,
): string {
  return clientAddress(context.addressOf(request), request.headers.get("x-forwarded-for"), isTrustedProxy);
}
