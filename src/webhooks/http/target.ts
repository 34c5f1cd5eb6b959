import { isIP } from "node:net";

/** Where a URL leads. */
export interface Target {
  /** The name to resolve, or the address that the URL names. */
  readonly hostname: string;
  readonly isAddress: boolean;
  readonly port: number;
  /** For the `Host` header. */
  readonly host: string;
  /** Path and query. */
  readonly path: string;
}

/**
 * Reads a webhook's URL as browsers do (WHATWG): `0x7f.1`, `2130706433` and full-width digits become the addresses that they
 * stand for. A string as the result says why nothing can be sent there.
 */
export function parseTarget(text: string): Target | string {
  const url = URL.parse(text);
  if (!url) return "not a URL";
  if (url.protocol !== "https:") return "not https";
  if (url.username !== "" || url.password !== "") return "holds a user name or password";
  // The final dot belongs neither into SNI (RFC 6066 §3) nor into a certificate.
  const hostname = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (hostname === "") return "without a host";
  return {
    hostname,
    isAddress: isIP(hostname) !== 0,
    port: url.port === "" ? 443 : Number(url.port),
    host: url.host,
    path: url.pathname + url.search,
  };
}
