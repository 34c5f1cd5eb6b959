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
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const network = groupsOf(address.toLowerCase()).slice(0, 4);
  return `${network.map((group) => group.replace(/^0+(?=.)/, "")).join(":")}::/64`;
}

/** The groups of an IPv6 address, with the zeros that `::` stands for. */
function groupsOf(address: string): readonly string[] {
  const [before, after] = address.split("::").map((part) => (part === "" ? [] : part.split(":")));
  if (!before || !after) return before ?? [];
  const zeros = Array<string>(8 - before.length - after.length).fill("0");
  return [...before, ...zeros, ...after];
}

/** Characters of the header that are looked at, from its end. */
const MAX_LENGTH = 2048;

/** The address in a hop, without port, brackets and white space. */
function bare(hop: string): string {
  const text = hop.trim();
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1];
  return bracketed ?? (/^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(":")) : text);
}
