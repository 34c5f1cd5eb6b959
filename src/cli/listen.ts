import type { Config } from "./config.ts";

/** A connection that says nothing for so long is closed, in mid-request too. */
const IDLE_SECONDS = 30;

/** Beyond every limit of the interface: larger bodies are refused there, in the interface's words. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

export type Fetch = (request: Request, peer: { readonly address: string }) => Promise<Response>;

export interface Listener {
  /** `http://host:port`, with the port really bound. */
  readonly url: string;
  /** Takes no new connections and resolves when the open requests are answered. */
  stop(): Promise<void>;
}

/** The one place that knows which HTTP server this is. */
export function listen(config: Pick<Config, "host" | "port" | "tls">, fetch: Fetch): Listener {
  const server = Bun.serve({
    hostname: config.host,
    port: config.port,
    idleTimeout: IDLE_SECONDS,
    maxRequestBodySize: MAX_BODY_BYTES,
    development: false,
    // Said because outside development Bun shares the port with another process that listens on it.
    reusePort: false,
    ...(config.tls && { tls: config.tls }),
    fetch(request, self) {
      return fetch(request, {
        // Asked for by few operations, and not free.
        get address() {
          return self.requestIP(request)?.address ?? "";
        },
      });
    },
  });
  const scheme = config.tls ? "https" : "http";
  return {
    url: `${scheme}://${reachable(config.host)}:${server.port}`,
    stop: () => server.stop(false),
  };
}

/** A wildcard is no address to connect to. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
