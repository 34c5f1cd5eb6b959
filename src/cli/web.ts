import { request } from "node:https";
import type { Web } from "../channels/channel.ts";
import type { Clock } from "../core/clock.ts";

const TIME_LIMIT_MS = 10_000;
const MAX_OCTETS = 64 * 1024;

/** Fetches what a provider's own words point to. The caller has made sure of the host. */
export function createWeb(clock: Clock): Web {
  return {
    get: (url) =>
      new Promise((resolve) => {
        const req = request(url, { agent: false, method: "GET" });
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
