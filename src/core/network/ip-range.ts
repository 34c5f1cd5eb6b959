/** True for an address, or a range such as `10.0.0.0/8` or `fd00::/8`. IPv4 must have four numbers without leading zeros. */
export function isIpRange(text: string): boolean {
  const [, address = "", bits] = /^([0-9A-Fa-f:.]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const most = IPV4.test(address) ? 32 : isIpv6(address) ? 128 : -1;
  return most > 0 && Number(bits ?? 0) <= most;
}

/** True for the address of a name server, with or without a port: `10.0.0.53`, `10.0.0.53:5353`, `::1`, `[::1]:53`. */
export function isNameServer(text: string): boolean {
  if (IPV4.test(text) || isIpv6(text)) return true;
  const [, v6 = "", v4 = "", port = "53"] =
    /^(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  return (IPV4.test(v4) || isIpv6(v6)) && Number(port) >= 1 && Number(port) <= 65_535;
}

const OCTET = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4 = new RegExp(`^${OCTET}(\\.${OCTET}){3}$`);

/** The URL parser reads every form of an IPv6 address, and nothing else in brackets (WHATWG URL §3.5). */
function isIpv6(text: string): boolean {
  return text.includes(":") && URL.canParse(`http://[${text}]/`);
}
