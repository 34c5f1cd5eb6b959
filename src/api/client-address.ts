import { isIP } from "node:net";

/**
 * The address of the client: the peer's own, or, if the peer is a trusted proxy, the last address in `X-Forwarded-For`
 * that is not a trusted proxy's. Everything before that one is only what the client claims.
 */
export function clientAddress(
  peer: string,
  forwardedFor: string | null,
  isTrusted: (address: string) => boolean,
): string {
  if (forwardedFor === null || !isTrusted(peer)) return peer;
  const hops = forwardedFor.slice(-MAX_LENGTH).split(",").map(bare);
  let address = peer;
  for (const hop of hops.toReversed()) {
    if (isIP(hop) === 0) return address;
    address = hop;
    if (!isTrusted(hop)) return address;
  }
  return address;
}

/** The most characters of the header that are looked at, from its end. */
const MAX_LENGTH = 2048;

/** The address in a hop, without port, brackets and white space. */
function bare(hop: string): string {
  const text = hop.trim();
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1];
  return bracketed ?? (/^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(":")) : text);
}
