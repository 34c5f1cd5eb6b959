import { lookup } from "node:dns/promises";
import { type Clock, sleep } from "../core/clock.ts";
import type { Config } from "./config.ts";

/** A connection that says nothing for so long is closed, in mid-request too; longer than a request waits on purpose (30 s). */
const IDLE_SECONDS = 40;

/** None: what is too large is refused by the interface, in its words. Of a body that nobody reads nothing is kept. */
const MAX_BODY_BYTES = Number.MAX_SAFE_INTEGER;

/** `addressOf`: the address at the other end of a request's connection. */
export type Fetch = (request: Request, addressOf: (request: Request) => string) => Promise<Response>;

export interface Listener {
  /** `http://host:port`, with the port really bound. */
  readonly url: string;
  /** Takes no new connections and resolves when the open requests are answered, within 15 s. */
  stop(): Promise<void>;
}

/** The one place that knows which HTTP server this is. */
export function listen(config: ListenConfig, clock: Clock, fetch: Fetch): Listener {
  const server = open(config, fetch);
  const scheme = config.tls ? "https" : "http";
  return {
    url: `${scheme}://${reachable(config.host)}:${server.port}`,
    stop: () => stop(server, clock),
  };
}

/** Nothing can be served there. */
export class ListenFailure extends Error {
  override readonly name = "ListenFailure";
}

/** What to say of a failure: the server's own words for a name without an address are those of whatever failed before. */
export async function listenProblem(host: string, { message }: ListenFailure): Promise<string> {
  const leads = await lookup(host).catch(() => undefined);
  return leads ? message : hostProblem(host, "leads to no address");
}

/** Clients that keep their connections hear from their next answer that this one ends, and are not cut off in it. */
const LINGER_MS = 300;

/** Longer and a request is not worth waiting for: its body does not come, or nobody reads its answer. */
const PATIENCE_MS = 10_000;

const LOOK_MS = 10;

async function stop(server: Bun.Server<undefined>, clock: Clock): Promise<void> {
  const never = new AbortController().signal;
  await sleep(clock, LINGER_MS, never);
  // Its promise does not tell: it may resolve while a request is at work, and waits for clients that say nothing.
  void server.stop(false);
  const endMs = clock.monotonicMs() + PATIENCE_MS;
  while (server.pendingRequests > 0 && clock.monotonicMs() < endMs) await sleep(clock, LOOK_MS, never);
  void server.stop(true);
}

type ListenConfig = Pick<Config, "host" | "port" | "tls"> & {
  /** `first` of several listeners on one port, or one that joins them; absent: the only one. */
  readonly sharing?: "first" | "joins";
};

function open(config: ListenConfig, fetch: Fetch) {
  try {
    // A port that is shared is free to others of this user too: that nobody has it is asked before.
    if (config.sharing === "first") void serve({ ...config, sharing: undefined }, fetch).stop(true);
    return serve(config, fetch);
  } catch (cause) {
    throw new ListenFailure(whyNot(config, cause instanceof Error ? cause.message : String(cause)), {
      cause,
    });
  }
}

function whyNot({ host, port }: ListenConfig, reason: string): string {
  if (/^EADDRNOTAVAIL/.test(reason)) return hostProblem(host, "is no address of this machine");
  const isTls = /PEM|SSL|TLS|X509|OPENSSL/i.test(reason);
  const what = isTls ? "TLS_CERT and TLS_KEY do not make an HTTPS server" : "nothing can be served";
  return `${what} on ${host}, port ${port} (HOST, PORT): ${reason}`;
}

function hostProblem(host: string, problem: string): string {
  return `HOST is "${host}", and that ${problem}: give an address of this machine, or 0.0.0.0 or :: for all`;
}

function serve(config: Omit<ListenConfig, "sharing"> & { sharing?: string | undefined }, fetch: Fetch) {
  // Asked for by few operations, and not free.
  const addressOf = (request: Request): string => server.requestIP(request)?.address ?? "";
  const server: Bun.Server<undefined> = Bun.serve({
    hostname: config.host,
    port: config.port,
    idleTimeout: IDLE_SECONDS,
    maxRequestBodySize: MAX_BODY_BYTES,
    development: false,
    // Said because outside development Bun shares the port with another process that listens on it.
    reusePort: config.sharing !== undefined,
    ...(config.tls && { tls: config.tls }),
    fetch: (request) => fetch(request, addressOf),
  });
  return server;
}

/** Serves on a socket of the file system, for others of this process. */
export function listenOnSocket(
  path: string,
  fetch: (request: Request) => Promise<Response>,
): { stop(): void } {
  const server: Bun.Server<undefined> = Bun.serve({
    unix: path,
    development: false,
    fetch(request) {
      // The time limits are those of the connection to the client.
      server.timeout(request, 0);
      return fetch(request);
    },
  });
  return { stop: () => void server.stop(true) };
}

/** A wildcard is no address to connect to. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
