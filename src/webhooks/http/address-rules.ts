import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Which addresses webhooks may connect to: all but this machine, private networks and reserved ranges, unless allowed. */
export interface AddressRules {
  /** The range that blocks the address, such as `10.0.0.0/8`, to show to the operator; `undefined` if it may be connected to. */
  blockedBy(address: string): string | undefined;
}

/** `127.0.0.0/8` as an address and the length of its prefix. */
type Range = readonly [address: Address, bits: number];

/** @param texts ranges and addresses that may be connected to although they are blocked; what is neither is left out */
export function createAddressRules(texts: readonly string[]): AddressRules {
  const allowed = texts.map(parseRange).filter((range) => range !== undefined);
  const verdict = (address: Address): string | undefined => {
    const range = find(allowed, address);
    return range ? judgeEmbedded(address, range, verdict) : find(BLOCKED, address)?.join("/");
  };
  return {
    blockedBy: memoize((text) => {
      const address = parseAddress(text);
      return address ? verdict(address) : "not an address";
    }),
  };
}

/** The most addresses whose verdict is remembered: the rules never change, and most webhooks go to few hosts. */
const MAX_REMEMBERED = 10_000;

function memoize(judge: (text: string) => string | undefined): (text: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (text) => {
    if (known.has(text)) return known.get(text);
    const verdict = judge(text);
    if (known.size >= MAX_REMEMBERED) known.clear();
    known.set(text, verdict);
    return verdict;
  };
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * The special-purpose addresses registered with IANA (RFC 6890 and its successors), and the ranges whose addresses lead
 * to another address: IPv4-compatible, NAT64, Teredo, 6to4.
 */
const BLOCKED: readonly Range[] = [
  "0.0.0.0/8", // this network; 0.0.0.0 is this host
  "10.0.0.0/8", // private
  "100.64.0.0/10", // behind a carrier's NAT
  "127.0.0.0/8", // loopback
  "169.254.0.0/16", // link-local, and the clouds' metadata
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16", // private
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, and broadcast
  "::/96", // unspecified, loopback, IPv4-compatible
  "::ffff:0:0:0/96", // IPv4-translated (RFC 7915)
  "64:ff9b::/96", // NAT64
  "64:ff9b:1::/48", // NAT64, local
  "100::/64", // discard
  "2001::/23", // protocol assignments, Teredo
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4
  "3fff::/20", // documentation
  "5f00::/16", // segment routing
  "fc00::/7", // private
  "fe80::/10", // link-local
  "fec0::/10", // site-local
  "ff00::/8", // multicast
].map((text) => {
  const [address = "", bits = ""] = text.split("/");
  return [ipaddr.parse(address), Number(bits)];
});

/** Which octets of an IPv6 address are an IPv4 address, behind a prefix of that length. */
type Place = readonly [prefixBits: number, octets: readonly [number, number, number, number]];

const LAST: Place = [96, [12, 13, 14, 15]];

/**
 * Ranges whose IPv6 addresses embed an IPv4 address and lead to it, and where it may be. All are blocked. In the range for NAT64
 * that is local each network chooses the length of its prefix (RFC 6052 §2.2).
 */
const EMBEDDING: readonly (readonly [range: Range, places: readonly Place[]])[] = [
  [[ipaddr.parse("64:ff9b::"), 96], [LAST]],
  [
    [ipaddr.parse("64:ff9b:1::"), 48],
    [[48, [6, 7, 9, 10]], [56, [7, 9, 10, 11]], [64, [9, 10, 11, 12]], LAST],
  ],
  [[ipaddr.parse("2002::"), 16], [[16, [2, 3, 4, 5]]]],
  [[ipaddr.parse("::"), 96], [LAST]],
  [[ipaddr.parse("::ffff:0:0:0"), 96], [LAST]],
];

/**
 * Reads dotted IPv4 and IPv6 as in RFC 4291: no octal, no hex, no short forms, no zones. IPv4-mapped IPv6 becomes IPv4.
 * The URL parser rewrites IPv6 in hexadecimal first, since the library takes `::8.8.8.8` for a mapped address.
 */
function parseAddress(text: string): Address | undefined {
  const version = text.includes("%") ? 0 : isIP(text);
  if (version === 0) return undefined;
  return ipaddr.process(version === 4 ? text : new URL(`https://[${text}]`).hostname.slice(1, -1));
}

function find(ranges: readonly Range[], address: Address): Range | undefined {
  return ranges.find(
    ([range, bits]) =>
      range.kind() === address.kind() && address.match(range as ipaddr.IPv4 & ipaddr.IPv6, bits),
  );
}

/**
 * Judges the IPv4 address that an address of an allowed range embeds: allowing NAT64 does not allow every address behind it. If
 * it may be in several places, it must be allowed in each that the range leaves open; in a wrong one there are mostly zeros.
 */
function judgeEmbedded(
  address: Address,
  [, allowedBits]: Range,
  verdict: (inner: Address) => string | undefined,
): string | undefined {
  const places = EMBEDDING.find(([range]) => find([range], address))?.[1];
  if (!places || isUnspecifiedOrLoopback(address)) return undefined;
  const octets = address.toByteArray();
  for (const [prefixBits, place] of places) {
    const inner = place.map((at) => octets[at] ?? 0);
    const isElsewhere = places.length > 1 && (prefixBits < Math.min(allowedBits, 96) || inner[0] === 0);
    const range = isElsewhere ? undefined : verdict(ipaddr.fromByteArray(inner));
    if (range !== undefined) return range;
  }
  return undefined;
}

/** `::` and `::1` embed no IPv4 address. */
function isUnspecifiedOrLoopback(address: Address): boolean {
  return ["::", "::1"].includes(address.toString());
}

/** Reads a range (`10.0.0.0/8`) or a single address, which is a range of its own; `undefined` if the text is neither. */
export function parseRange(text: string): Range | undefined {
  const single = parseAddress(text);
  if (single) return [single, single.kind() === "ipv4" ? 32 : 128];
  const [, network = "", bits = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const address = parseAddress(network);
  const most = address?.kind() === "ipv4" ? 32 : 128;
  return address && Number(bits) <= most ? [address, Number(bits)] : undefined;
}
