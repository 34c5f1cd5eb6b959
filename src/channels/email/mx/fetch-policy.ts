import { request } from "node:https";
import type { Clock } from "../../../core/clock.ts";
import { withinLimit } from "../smtp/within-limit.ts";

export interface PolicyPlace {
  /** `mta-sts.` and the domain. */
  readonly host: string;
  /** An address of it that may be connected to. */
  readonly address: string;
  readonly port: number;
  /** PEM; absent: the system's. */
  readonly ca?: string;
}

/** RFC 8461 §3.3 wants at least this much read, and no more than a minute waited. */
const MAX_OCTETS = 65_536;
const TIME_LIMIT_MS = 15_000;

/** Interim answers (RFC 9110 §15.2) that are accepted. */
const MAX_INTERIM = 10;

/**
 * The text of a domain's policy file; `undefined` if there is no 200 under a valid certificate, or if it is something else than
 * plain text. Redirects are not followed.
 */
export function fetchPolicy(
  place: PolicyPlace,
  clock: Clock,
  signal: AbortSignal,
): Promise<string | undefined> {
  return withinLimit(clock, { limitMs: TIME_LIMIT_MS, signal }, (limited) => get(place, limited));
}

function get({ host, address, port, ca }: PolicyPlace, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const req = request({
      host: address,
      port,
      servername: host,
      path: "/.well-known/mta-sts.txt",
      headers: { host: port === 443 ? host : `${host}:${port}` },
      agent: false,
      // Not left to NODE_TLS_REJECT_UNAUTHORIZED.
      rejectUnauthorized: true,
      ...(ca !== undefined && { ca }),
    });
    const finish = (text?: string) => {
      signal.removeEventListener("abort", onAbort);
      resolve(text);
      req.destroy();
    };
    const onAbort = () => finish();
    signal.addEventListener("abort", onAbort);
    req.on("error", () => finish());
    req.on("close", () => finish());
    let interim = 0;
    req.on("information", () => {
      if (++interim > MAX_INTERIM) finish();
    });
    req.on("response", (response) => {
      if (response.statusCode !== 200 || !isPlainText(response.headers["content-type"])) return finish();
      let text = "";
      response.setEncoding("latin1");
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > MAX_OCTETS) finish();
      });
      response.on("end", () => finish(text));
      response.on("error", () => finish());
    });
    req.end();
    if (signal.aborted) onAbort();
  });
}

/**
 * Who may put pages or pictures on a domain's web server does not thereby make its policy (RFC 8461 §3.2). A server that names
 * no type says nothing against it.
 */
function isPlainText(contentType = "text/plain"): boolean {
  return /^\s*text\/plain\s*(;|$)/i.test(contentType);
}
