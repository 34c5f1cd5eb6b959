import ipaddr from "ipaddr.js";
import type { Cidr } from "../config.ts";

/** Whether an address (IPv4-mapped ones as IPv4) is in one of the ranges. */
export function isTrustedProxy(text: string, trusted: readonly Cidr[]): boolean {
  if (trusted.length === 0 || !ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  return trusted.some(([range, bits]) => {
    if (address.kind() !== range.kind()) return false;
    return address.match(range as ipaddr.IPv4 & ipaddr.IPv6, bits);
  });
}
