import { createSecureContext, getCACertificates } from "node:tls";
import type { Clock } from "../../core/clock.ts";
import { type AddressRules, createAddressRules, type Range } from "./address-rules.ts";
import type { Connection, Endpoint } from "./connection.ts";
import { type ConnectionPool, createConnectionPool } from "./connection-pool.ts";
import { calledOff, type Exchanged, exchange } from "./exchange.ts";
import { findAddresses, type Resolver } from "./find-addresses.ts";
import { shareQuestions } from "./share-questions.ts";
import { parseTarget, type Target } from "./target.ts";
import { openTimeLimit, unlessAborted } from "./time-limit.ts";

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
  readonly clock: Clock;
}

export function createOutboundHttp(deps: OutboundHttpDeps): OutboundHttp {
  const { clock } = deps;
  const resolver = shareQuestions(deps.resolver);
  const rules = createAddressRules(deps.allowed ?? []);
  // One for all: reading the certificates for each connection would double its cost.
  const secureContext = createSecureContext(
    deps.ca === undefined ? {} : { ca: [...getCACertificates("default"), deps.ca] },
  );
  const pool = createConnectionPool({ clock, secureContext });
  const parts = { clock, resolver, rules, pool };
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
  return tryInTurn(found.addresses.slice(0, MAX_ADDRESSES), (address, isLast) => {
    const servername = target.isAddress ? undefined : target.hostname;
    const endpoint = { address, port: target.port, ...(servername !== undefined && { servername }) };
    return talk(parts, { endpoint, target, request, signal, isLast });
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

interface Conversation {
  readonly endpoint: Endpoint;
  readonly target: Target;
  readonly request: PostRequest;
  readonly signal: AbortSignal;
  /** There is no other address to go on to. */
  readonly isLast: boolean;
}

/** Over a kept connection if there is one. */
async function talk(parts: Parts, conversation: Conversation): Promise<Exchanged> {
  const { signal } = conversation;
  const kept = parts.pool.take(conversation.endpoint);
  if (kept) {
    const outcome = await speak(parts.pool, conversation, { connection: kept, isKept: true, signal });
    // Closed by the server while it was idle: that says nothing about the receiver, and a repeat has the same id.
    if (outcome.kind === "answered" || !outcome.wasStale) return outcome;
  }
  return talkAnew(parts, conversation);
}

async function talkAnew({ pool, clock }: Parts, conversation: Conversation): Promise<Exchanged> {
  const { endpoint, isLast, signal } = conversation;
  const ms = isLast ? TIME_LIMIT_MS : CONNECT_LIMIT_MS;
  const limit = openTimeLimit(clock, { ms, reason: "connect" }, signal);
  const line = {
    connection: pool.open(endpoint),
    isKept: false,
    signal: limit.signal,
    onConnected: limit.lift,
  };
  return speak(pool, conversation, line).finally(limit.release);
}

interface Line {
  readonly connection: Connection;
  readonly isKept: boolean;
  readonly signal: AbortSignal;
  readonly onConnected?: () => void;
}

function speak(
  pool: ConnectionPool,
  { endpoint, target, request }: Conversation,
  line: Line,
): Promise<Exchanged> {
  const { headers, body } = request;
  return exchange({
    ...line,
    path: target.path,
    headers: { host: target.host, ...headers, "content-length": Buffer.byteLength(body) },
    body,
    giveBack: () => pool.giveBack(endpoint, line.connection),
  });
}
