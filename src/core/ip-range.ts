/** True for one address or range, `10.0.0.0/8` or `fd00::/8`; IPv4 only dotted, in full and without zeros in front. */
export function isIpRange(text: string): boolean {
  const [, address = "", bits] = /^([0-9A-Fa-f:.]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const most = IPV4.test(address) ? 32 : isIpv6(address) ? 128 : -1;
  return most > 0 && Number(bits ?? 0) <= most;
}

const OCTET = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4 = new RegExp(`^${OCTET}(\\.${OCTET}){3}$`);

/** The URL parser reads every form of them, and no other (WHATWG URL §3.5). */
function isIpv6(text: string): boolean {
  return text.includes(":") && URL.canParse(`http://[${text}]/`);
}
