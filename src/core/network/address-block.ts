/** The key of the addresses that share a limit: an IPv4 address, or the /64 of an IPv6 address, since one client has all of it. */
export function addressBlock(address: string): string {
  const groups = groupsOf(address);
  if (!groups) return address;
  return mappedIpv4(groups) ?? `${groups.slice(0, 4).join(":")}::/64`;
}

/**
 * The eight groups of an IPv6 address without their leading zeros; `undefined` for anything else. The URL parser reads every form
 * of an address (WHATWG URL §3.5), but not a zone.
 */
function groupsOf(address: string): readonly string[] | undefined {
  const url = address.includes(":") ? URL.parse(`http://[${address.replace(/%.*$/, "")}]`) : null;
  if (!url) return undefined;
  const [before = [], after] = url.hostname
    .slice(1, -1)
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":")));
  if (!after) return before;
  return [...before, ...Array<string>(8 - before.length - after.length).fill("0"), ...after];
}

/** The IPv4 address in an IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2), since each of these is a client of its own. */
function mappedIpv4(groups: readonly string[]): string | undefined {
  if (groups.slice(0, 6).join(":") !== "0:0:0:0:0:ffff") return undefined;
  const octets = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return octets.flatMap((pair) => [pair >> 8, pair & 0xff]).join(".");
}
