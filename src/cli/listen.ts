import { clientAddress } from "./client-address.ts";
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
export function listen(
  config: Pick<Config, "host" | "port" | "tls" | "trustedProxies">,
  fetch: Fetch,
): Listener {
  const server = Bun.serve({
    hostname: config.host,
    port: config.port,
    idleTimeout: IDLE_SECONDS,
    maxRequestBodySize: MAX_BODY_BYTES,
    development: false,
    ...(config.tls && { tls: config.tls }),
    fetch(request, self) {
      return fetch(request, {
        // Asked for by few operations, and not free.
        get address() {
          const peer = self.requestIP(request)?.address ?? "";
          return clientAddress(peer, request.headers.get("x-forwarded-for"), config.trustedProxies);
        },
      });
    },
  });
  const scheme = config.tls ? "https" : "http";
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  return {
    url: `${scheme}://${host}:${server.port}`,
    stop: () => server.stop(false),
  };
}
