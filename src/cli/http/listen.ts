/** The HTTP server. Only this file knows that it is Bun's. */
import { lookup } from "node:dns/promises";
import type { AnswerRequest } from "../../api/app-deps.ts";
import { pathOf } from "../../api/router.ts";
import { type Clock, sleep } from "../../core/clock.ts";
import { errorText } from "../../core/error-text.ts";
import { portAdvice } from "../../core/network/port-advice.ts";
import type { Config } from "../config.ts";
import { LINGER_MS } from "./drain.ts";
import { isSameTls, type Tls } from "./tls-files.ts";

/** After how long an idle connection is closed, even within a request: Bun counts in steps of 4 s, so up to 4 s sooner. Longer than the 30 s that a long poll may wait. */
const IDLE_SECONDS = 40;

/** No limit here: the API refuses bodies that are too large with its own answer, and a body that nobody reads is not kept. */
const MAX_BODY_BYTES = Number.MAX_SAFE_INTEGER;

export interface Listener {
  /** `http://host:port`, with the port that is bound. */
  readonly url: string;
  /**
   * Shows this certificate to those who connect, some seconds later to all of them. Requests on open connections are answered, and
   * their connections closed. Does nothing once it stops. If it throws `ListenFailure`, it goes on with the certificate from before.
   */
  renew(tls: Tls): void;
  /** Lingers, then takes no new connections and resolves when the open requests are answered, within 15 s. */
  stop(): Promise<void>;
}

/** Starts the HTTP server. Throws `ListenFailure`. */
export function listen(config: ListenConfig, clock: Clock, fetch: AnswerRequest): Listener {
  let current = open(config, fetch);
  let shown = config.tls;
  /** Those with earlier certificates, some of whose requests may not be answered yet. */
  let former: readonly Serving[] = [];
  let isStopping = false;
  let stopOverlap = () => {};
  const { port } = current.server;
  const scheme = config.tls ? "https" : "http";
  return {
    url: `${scheme}://${reachable(config.host)}:${port}`,
    renew(tls) {
      if (isStopping || isSameTls(tls, shown)) return;
      const next = open({ ...config, port: Number(port), tls, sharing: "joins" }, fetch);
      stopOverlap = current.leave(clock);
      former = [...former.filter(({ server }) => server.pendingRequests > 0), current];
      [current, shown] = [next, tls];
    },
    stop() {
      isStopping = true;
      stopOverlap();
      return stop([...former, current], clock);
    },
  };
}

/** The server cannot listen at that address; the message tells the operator what to change. */
export class ListenFailure extends Error {
  override readonly name = "ListenFailure";
  readonly where: ListenAddress;

  constructor(where: ListenAddress, reason: string, cause: unknown) {
    super(failureReason(where, reason), { cause });
    this.where = where;
  }
}

/** The words for a failure. Looks up the host itself, since for an unknown name Bun reports an unrelated error. */
export async function listenProblem({ message, where }: ListenFailure): Promise<string> {
  const leads = await lookup(where.host).catch(() => undefined);
  return leads ? message : hostProblem(where, "leads to no address");
}

/** How long a stop waits for requests. If one takes longer, its body does not arrive, or nobody reads its answer. */
const PATIENCE_MS = 10_000;

const LOOK_MS = 10;

async function stop(serving: readonly Serving[], clock: Clock): Promise<void> {
  await sleep(clock, LINGER_MS);
  const servers = serving.map(({ server }) => server);
  // Not awaited: the promise may resolve while a request is handled, and it waits for idle clients.
  for (const server of servers) void server.stop(false);
  const endMs = clock.monotonicMs() + PATIENCE_MS;
  const areOpen = () => servers.some(({ pendingRequests }) => pendingRequests > 0);
  while (areOpen() && clock.monotonicMs() < endMs) await sleep(clock, LOOK_MS);
  for (const server of servers) void server.stop(true);
}

interface ListenAddress extends Pick<Config, "host" | "port"> {
  /** The beginning of the names of the variables that set host and port; absent: they are `HOST` and `PORT`. */
  readonly prefix?: "METRICS_" | "";
}

type ListenConfig = ListenAddress & {
  readonly tls?: Tls | undefined;
  /** `first` of several listeners on one port, or one that joins them; absent: the only one. */
  readonly sharing?: "first" | "joins";
};

function open(config: ListenConfig, fetch: AnswerRequest): Serving {
  // Who gets another certificate listens beside itself for a while.
  const { sharing = config.tls && "first", ...rest } = config;
  try {
    // A shared port can also be bound by other processes of this user: an exclusive bind first shows that it is free.
    if (sharing === "first") void serve({ ...rest, isShared: false }, fetch).server.stop(true);
    return serve({ ...rest, isShared: sharing !== undefined }, fetch);
  } catch (cause) {
    throw new ListenFailure(config, errorText(cause), cause);
  }
}

function failureReason(where: ListenAddress, reason: string): string {
  const { host, port, prefix = "" } = where;
  if (/^EADDRNOTAVAIL/.test(reason)) return hostProblem(where, "is no address of this machine");
  const isTls = /PEM|SSL|TLS|X509|OPENSSL/i.test(reason);
  const what = isTls ? "TLS_CERT and TLS_KEY do not make an HTTPS server" : "nothing can be served";
  return `${what} on ${host}, port ${port} (${prefix}HOST, ${prefix}PORT): ${reason}${portAdvice(reason, port)}`;
}

function hostProblem({ host, prefix = "" }: ListenAddress, problem: string): string {
  return `${prefix}HOST is "${host}", and that ${problem}: give an address of this machine, or 0.0.0.0 or :: for all`;
}

/** A server with one certificate, or none. */
interface Serving {
  readonly server: Bun.Server<undefined>;
  /** Each answer is the last on its connection from then on; later no connection is taken any more, unless the result is called. */
  leave(clock: Clock): () => void;
}

/**
 * How long a server takes connections beside its successor. Those in its queue when it ends are reset, unless the kernel moves them
 * (`net.ipv4.tcp_migrate_req`). The more requests each client has sent by then, the fewer still come here.
 */
const OVERLAP_MS = 5_000;

function serve(
  config: Omit<ListenConfig, "sharing"> & { readonly isShared: boolean },
  answer: AnswerRequest,
): Serving {
  let fetch = answer;
  // A function, since few operations need the address and looking it up costs time.
  const addressOf = (request: Request): string => server.requestIP(request)?.address ?? "";
  const server: Bun.Server<undefined> = Bun.serve({
    hostname: config.host,
    port: config.port,
    idleTimeout: IDLE_SECONDS,
    maxRequestBodySize: MAX_BODY_BYTES,
    development: false,
    // Set explicitly, since outside development Bun shares the port with other processes by default.
    reusePort: config.isShared,
    ...(config.tls && { tls: config.tls }),
    routes: Object.fromEntries(
      OPERATORS_PATHS.flatMap((path) => [path, `${path}/*`]).map((path) => [
        path,
        (request: Request) => fetch(request, addressOf),
      ]),
    ),
    fetch: (request) =>
      isOperators(request.url)
        ? fetch(toNowhere(request), () => addressOf(request))
        : fetch(request, addressOf),
  });
  return {
    server,
    leave(clock) {
      fetch = lastOnItsConnection(answer);
      return clock.after(OVERLAP_MS, () => void server.stop(false));
    },
  };
}

function lastOnItsConnection(answer: AnswerRequest): AnswerRequest {
  return async (request, addressOf) => {
    const response = await answer(request, addressOf);
    response.headers.set("Connection", "close");
    return response;
  };
}

/**
 * Paths that proxies keep from strangers. A proxy judges a path as it was sent, but `Request.url` has it resolved:
 * `/v1/x\..\..\metrics`, which nginx takes for something under `/v1/`, is `/metrics` there. Bun finds routes by the path as it
 * was sent. So a request for one of these that came by no route was sent under another path.
 */
const OPERATORS_PATHS = ["/admin", "/metrics", "/healthz", "/readyz", "/docs", "/openapi.json"];

function isOperators(url: string): boolean {
  const path = pathOf(url);
  // Most requests need only this comparison.
  if (path.startsWith("/v1/")) return false;
  return OPERATORS_PATHS.some((each) => path === each || path.startsWith(`${each}/`));
}

/** The request, but under a path that does not exist. */
function toNowhere(request: Request): Request {
  return new Request(new URL("/.nowhere", request.url).href, request);
}

/** No time limit here, since the connection to the client has one. Bun takes the option for Unix sockets too, but its types do not. */
const NO_IDLE_LIMIT = { idleTimeout: 0 };

/** Serves on a Unix socket, for the listener threads of this process. */
export function listenOnSocket(
  path: string,
  fetch: (request: Request) => Promise<Response>,
): { stop(): void } {
  const server: Bun.Server<undefined> = Bun.serve({
    unix: path,
    maxRequestBodySize: MAX_BODY_BYTES,
    ...(NO_IDLE_LIMIT as object),
    development: false,
    fetch,
  });
  return { stop: () => void server.stop(true) };
}

/** The host part of a URL to connect to: loopback for a wildcard address. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
