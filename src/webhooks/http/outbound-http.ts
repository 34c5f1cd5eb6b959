import { createSecureContext, getCACertificates } from "node:tls";
import type { Clock } from "../../core/clock.ts";
import { unlessAborted } from "../../core/work/unless-aborted.ts";
import { type AddressRules, createAddressRules } from "./address-rules.ts";
import type { Endpoint } from "./connection.ts";
import { type ConnectionPool, createConnectionPool } from "./connection-pool.ts";
import { type ExchangeOutcome, type ExchangeRequest, exchange, outcomeOfAbort } from "./exchange.ts";
import { createFailedAddresses, type FailedAddresses } from "./failed-addresses.ts";
import { findAddresses, type Resolve, type Resolver, resolveAddresses } from "./find-addresses.ts";
import { shareLookups } from "./share-lookups.ts";
import { parseTarget, type Target } from "./target.ts";
import { openTimeLimit } from "./time-limit.ts";

/**
 * POSTs to URLs that strangers chose, without reaching private networks (SSRF). Only https; no redirects; no proxies; limits on
 * the time and on what is read. The name is resolved once per attempt, and all its addresses are judged. The connection goes to
 * one of these addresses, with the name in SNI, certificate check and Host.
 */
export interface OutboundHttp {
  /** Whatever the network and the server do is an outcome. Takes at most 15 s. */
  post(request: PostRequest): Promise<PostOutcome>;
  /** Closes idle connections. Posts under way end by their `signal`. */
  close(): void;
}

export interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Calls the attempt off at once. */
  readonly signal: AbortSignal;
}

/** `ms`: from the DNS query to the end of the answer. */
export type PostOutcome = ExchangeOutcome & { readonly ms: number };

export interface OutboundHttpDeps {
  readonly clock: Clock;
  /** Opens a resolver for the queries about one name. */
  readonly openResolver: () => Resolver;
  /** See `createAddressRules`. */
  readonly allowed: readonly string[];
  /** Certificates (PEM) that are trusted besides the runtime's own. */
  readonly ca?: string;
}

/** How long a whole attempt may take: DNS, connection, TLS, answer. */
const TIME_LIMIT_MS = 15_000;

/** The most addresses of a name to try, as far as there is time. */
const MAX_ADDRESSES = 8;

/** How long connecting to an address may take, unless it is the last one. */
const CONNECT_LIMIT_MS = 4_000;

interface Parts {
  readonly resolve: Resolve;
  readonly rules: AddressRules;
  readonly pool: ConnectionPool;
  readonly failed: FailedAddresses;
  readonly clock: Clock;
}

export function createOutboundHttp(deps: OutboundHttpDeps): OutboundHttp {
  const { clock, openResolver } = deps;
  const resolve = shareLookups((name) => resolveAddresses(openResolver(), name, clock));
  const rules = createAddressRules(deps.allowed);
  // One context for all connections: to read the certificates for each would double its cost.
  const secureContext = createSecureContext(
    deps.ca === undefined ? {} : { ca: [...getCACertificates("default"), deps.ca] },
  );
  const pool = createConnectionPool({ clock, secureContext });
  const parts = { clock, resolve, rules, pool, failed: createFailedAddresses(clock) };
  return {
    async post(request) {
      const startedMs = clock.monotonicMs();
      const limit = openTimeLimit(clock, { ms: TIME_LIMIT_MS, reason: "timeout" }, request.signal);
      const outcome = await attempt(parts, request, limit.signal).finally(limit.release);
      return { ...outcome, ms: Math.round(clock.monotonicMs() - startedMs) };
    },
    close: pool.close,
  };
}

async function attempt(parts: Parts, request: PostRequest, signal: AbortSignal): Promise<ExchangeOutcome> {
  const target = parseTarget(request.url);
  if (typeof target === "string") return { kind: "failed", reason: "refused_url", message: target };
  const found = await unlessAborted(findAddresses(target, parts), signal);
  if (found === undefined) return outcomeOfAbort(signal);
  if ("reason" in found) return { kind: "failed", ...found };
  const addresses = parts.failed.inOrder(found.addresses, target.port).slice(0, MAX_ADDRESSES);
  return tryInTurn(addresses, (address, isLast) => {
    const servername = target.isAddress ? undefined : target.hostname;
    const endpoint = { address, port: target.port, ...(servername !== undefined && { servername }) };
    return post(parts, { endpoint, target, request, signal, isLast });
  });
}

/** Goes on to the next address only if the one before could not be connected to. */
async function tryInTurn(
  addresses: readonly string[],
  postTo: (address: string, isLast: boolean) => Promise<ExchangeOutcome>,
): Promise<ExchangeOutcome> {
  let told: ExchangeOutcome | undefined;
  for (const [index, address] of addresses.entries()) {
    const outcome = await postTo(address, index === addresses.length - 1);
    if (outcome.kind !== "failed" || !outcome.isUnsent) return outcome;
    // An address that took the connection says more than one that this machine may have no way to.
    if (!told || (outcome.reason === "tls" && told.kind === "failed" && told.reason !== "tls"))
      told = outcome;
  }
  return told ?? { kind: "failed", reason: "dns", message: "the name has no address" };
}

/** One POST to one address. */
interface AddressedPost {
  readonly endpoint: Endpoint;
  readonly target: Target;
  readonly request: PostRequest;
  readonly signal: AbortSignal;
  /** True for the last address to try. */
  readonly isLast: boolean;
}

/** Over an idle connection if there is one. */
async function post(parts: Parts, addressed: AddressedPost): Promise<ExchangeOutcome> {
  const { endpoint, signal } = addressed;
  const idle = parts.pool.take(endpoint);
  if (idle) {
    const outcome = await postOver(parts.pool, addressed, { connection: idle, isReused: true, signal });
    // This is no failure of the receiver. If it took the event after all, the repeat has the same id.
    if (!isForAnotherConnection(outcome)) return outcome;
  }
  return postOverNew(parts, addressed);
}

/**
 * Whether the server had closed the connection while it was idle, or was about to: by 408 it says that it did not wait any longer
 * for a request (RFC 9110 §15.5.9).
 */
function isForAnotherConnection(outcome: ExchangeOutcome): boolean {
  return outcome.kind === "answered" ? outcome.status === 408 : outcome.wasStale === true;
}

async function postOverNew(
  { pool, clock, failed }: Parts,
  addressed: AddressedPost,
): Promise<ExchangeOutcome> {
  const { endpoint, isLast, signal } = addressed;
  const ms = isLast ? TIME_LIMIT_MS : CONNECT_LIMIT_MS;
  const limit = openTimeLimit(clock, { ms, reason: "connect" }, signal);
  const over = {
    connection: pool.open(endpoint),
    isReused: false,
    signal: limit.signal,
    onConnected() {
      limit.lift();
      failed.remove(endpoint.address, endpoint.port);
    },
  };
  const outcome = await postOver(pool, addressed, over).finally(limit.release);
  if (outcome.kind === "failed" && outcome.isUnsent) failed.add(endpoint.address, endpoint.port);
  return outcome;
}

function postOver(
  pool: ConnectionPool,
  { endpoint, target, request }: AddressedPost,
  over: Pick<ExchangeRequest, "connection" | "isReused" | "signal" | "onConnected">,
): Promise<ExchangeOutcome> {
  const { headers, body } = request;
  return exchange({
    ...over,
    path: target.path,
    headers: { host: target.host, ...headers, "content-length": Buffer.byteLength(body) },
    body,
    giveBack: () => pool.giveBack(endpoint, over.connection),
  });
}
