import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import type { Clock } from "../core/clock.ts";
import { type AddressRules, createAddressRules, type Range } from "./address-rules.ts";
import { type ConnectionPool, createConnectionPool, type Endpoint } from "./connection-pool.ts";
import { calledOff, type Exchanged, exchange } from "./exchange.ts";
import { findAddresses, type Resolver } from "./find-addresses.ts";
import { parseTarget, type Target } from "./target.ts";
import { openTimeLimit, type TimeLimit, unlessAborted } from "./time-limit.ts";

/**
 * POSTs to URLs that strangers chose, without being led to where they may not go: https only; the name is resolved
 * once, at every attempt anew; all its addresses are judged, and one of them is connected to, with the name in SNI,
 * certificate check and Host; no redirects; no proxies; limits on time and on what is read.
 */
export interface OutboundHttp {
  /** Whatever the network and the other side do is an outcome; takes 15 s at the most. */
  post(request: PostRequest): Promise<PostOutcome>;
  /** Closes idle connections. Posts under way end by their `signal`. */
  close(): void;
}

export interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Gives up at once: the program ends. */
  readonly signal?: AbortSignal;
}

/** `ms`: from the question to the name server to the end of the answer. */
export type PostOutcome = Exchanged & { readonly ms: number };

export interface OutboundHttpDeps {
  readonly clock: Clock;
  readonly resolver: Resolver;
  /** Addresses that may be connected to although they are in a blocked range. */
  readonly allowed?: readonly Range[];
  /** Certificates (PEM) that are trusted besides the runtime's own. */
  readonly ca?: string;
}

/** For all of it: name, connection, TLS, answer. */
const TIME_LIMIT_MS = 15_000;

/** So many of a name's addresses are tried; all but the last have this long to connect. */
const MAX_ADDRESSES = 3;
const CONNECT_LIMIT_MS = 4_000;

interface Parts {
  readonly resolver: Resolver;
  readonly rules: AddressRules;
  readonly pool: ConnectionPool;
  readonly secureContext: SecureContext;
  readonly clock: Clock;
}

export function createOutboundHttp(deps: OutboundHttpDeps): OutboundHttp {
  const { clock, resolver } = deps;
  const pool = createConnectionPool(clock);
  const rules = createAddressRules(deps.allowed ?? []);
  // One for all: reading the certificates for each connection would double its cost.
  const secureContext = createSecureContext(
    deps.ca === undefined ? {} : { ca: [...getCACertificates("default"), deps.ca] },
  );
  const parts = { clock, resolver, rules, pool, secureContext };
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

async function attempt(parts: Parts, request: PostRequest, signal: AbortSignal): Promise<Exchanged> {
  const target = parseTarget(request.url);
  if (typeof target === "string") return { kind: "failed", reason: "refused_url", message: target };
  const found = await unlessAborted(findAddresses(target, parts), signal);
  if (found === undefined) return calledOff(signal);
  if ("reason" in found) return { kind: "failed", ...found };
  return tryInTurn(found.addresses.slice(0, MAX_ADDRESSES), async (address, isLast) => {
    const ms = isLast ? TIME_LIMIT_MS : CONNECT_LIMIT_MS;
    const limit = openTimeLimit(parts.clock, { ms, reason: "connect" }, signal);
    const endpoint: Endpoint = {
      address,
      port: target.port,
      ...(!target.isAddress && { servername: target.hostname }),
    };
    return talk(parts, { endpoint, target, request, limit }).finally(limit.release);
  });
}

/** The next address only where nothing was sent to the one before. */
async function tryInTurn(
  addresses: readonly string[],
  talkTo: (address: string, isLast: boolean) => Promise<Exchanged>,
): Promise<Exchanged> {
  let outcome: Exchanged | undefined;
  for (const [index, address] of addresses.entries()) {
    outcome = await talkTo(address, index === addresses.length - 1);
    if (outcome.kind !== "failed" || outcome.reason !== "connect") break;
  }
  return outcome ?? { kind: "failed", reason: "dns", message: "the name has no address" };
}

async function talk(
  { pool, secureContext }: Parts,
  { endpoint, target, request, limit }: Conversation,
): Promise<Exchanged> {
  const { agent, release } = pool.lend(endpoint);
  const asked = {
    endpoint,
    secureContext,
    path: target.path,
    headers: { ...request.headers, host: target.host, "content-length": Buffer.byteLength(request.body) },
    body: request.body,
    signal: limit.signal,
    onConnected: limit.lift,
  };
  const outcome = await exchange({ ...asked, agent }).finally(release);
  // Closed by the server while it was idle: that says nothing about the receiver, and a repeat has the same id.
  return outcome.kind === "failed" && outcome.wasStale ? exchange({ ...asked, agent: false }) : outcome;
}

interface Conversation {
  readonly endpoint: Endpoint;
  readonly target: Target;
  readonly request: PostRequest;
  readonly limit: TimeLimit;
}
