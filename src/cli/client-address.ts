import ipaddr from "ipaddr.js";
import type { Cidr } from "./config.ts";

/**
 * The address a request counts as coming from: the nearest one, walking from us towards the client through
 * `X-Forwarded-For`, that is not a trusted proxy. Without trusted proxies the header is never believed.
 */
export function clientAddress(peer: string, forwardedFor: string | null, trusted: readonly Cidr[]): string {
  if (trusted.length === 0 || forwardedFor === null || !isTrusted(peer, trusted)) return peer;
  const hops = forwardedFor
    .split(",")
    .map((hop) => hop.trim())
    .reverse();
  let nearest = peer;
  for (const hop of hops) {
    if (!ipaddr.isValid(hop)) return nearest;
    nearest = hop;
    if (!isTrusted(hop, trusted)) return hop;
  }
  return nearest;
}

function isTrusted(text: string, trusted: readonly Cidr[]): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  return trusted.some(([range, bits]) => {
    if (address.kind() !== range.kind()) return false;
    return address.match(range as ipaddr.IPv4 & ipaddr.IPv6, bits);
  });
}
