import { request } from "node:https";
import type { Web } from "../../channels/channel.ts";
import type { Clock } from "../../core/clock.ts";
import { present } from "../../core/present.ts";

const TIME_LIMIT_MS = 10_000;
const MAX_OCTETS = 64 * 1024;

/** For tests: the address to connect to for every host. Certificates are still checked against the host's name. */
export interface FixedAddress {
  readonly address: string;
  readonly port: number;
  /** PEM certificates to trust instead of the system's. */
  readonly ca: string;
}

/** Fetches URLs that a provider's callbacks name. The caller has checked the host. `undefined` for anything but a 200. */
export function createWeb(clock: Clock, fixed?: FixedAddress): Web {
  return {
    get: (url) =>
      new Promise((resolve) => {
        const { hostname } = url;
        const req = request({
          host: fixed?.address ?? hostname,
          servername: hostname,
          path: url.pathname + url.search,
          headers: { host: url.host },
          agent: false,
          // Not left to NODE_TLS_REJECT_UNAUTHORIZED.
          rejectUnauthorized: true,
          ...present({ port: fixed?.port ?? (url.port || undefined), ca: fixed?.ca }),
        });
        const finish = (text?: string) => {
          cancel();
          resolve(text);
          req.destroy();
        };
        const cancel = clock.after(TIME_LIMIT_MS, () => finish());
        req.on("error", () => finish());
        req.on("response", (response) => {
          if (response.statusCode !== 200) return finish();
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => {
            text += chunk;
            if (text.length > MAX_OCTETS) finish();
          });
          response.on("error", () => finish());
          response.on("end", () => finish(text));
        });
        req.end();
      }),
  };
}
