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

/** The addresses that share a limit: an IPv4 address, or the /64 of an IPv6 address, which one client has to itself. */
export function addressBlock(address: string): string {
  if (isIP(address) !== 6) return address;
  const groups = groupsOf(address);
  return mappedIpv4(groups) ?? `${groups.slice(0, 4).join(":")}::/64`;
}

/** The eight groups of an IPv6 address without their leading zeros. The URL parser reads every form (WHATWG URL §3.5), but no zone. */
function groupsOf(address: string): readonly string[] {
  const { hostname } = new URL(`http://[${address.replace(/%.*$/, "")}]`);
  const [before = [], after] = hostname
    .slice(1, -1)
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":")));
  if (!after) return before;
  return [...before, ...Array<string>(8 - before.length - after.length).fill("0"), ...after];
}

/** The IPv4 address that is written as an IPv6 one, in hexadecimal or not (RFC 4291 §2.5.5.2): each is a client of its own. */
function mappedIpv4(groups: readonly string[]): string | undefined {
  if (groups.slice(0, 6).join(":") !== "0:0:0:0:0:ffff") return undefined;
  const octets = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return octets.flatMap((pair) => [pair >> 8, pair & 0xff]).join(".");
}

/** Characters of the header that are looked at, from its end. */
const MAX_LENGTH = 2048;

/** The address in a hop, without port, brackets and white space. */
function bare(hop: string): string {
  const text = hop.trim();
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1];
  return bracketed ?? (/^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(":")) : text);
}
