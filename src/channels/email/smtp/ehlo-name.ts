import { isIPv4, isIPv6 } from "node:net";
import { hostname } from "node:os";
import type { Connector } from "../../../core/records/accounts.ts";

/**
 * What is wrong with a connector's `ehlo_name`, by field; empty if nothing is. Checked when the name is set and not by
 * the schema, so that connectors stored with a bad name keep working.
 */
export function ehloNameProblem({ config }: Pick<Connector, "config">): Readonly<Record<string, string>> {
  const name = config.ehlo_name;
  if (typeof name !== "string" || isEhloName(name)) return {};
  return {
    ehlo_name:
      "must be a domain name in ASCII (mail.example.com), or an address in brackets ([192.0.2.1], [IPv6:2001:db8::1])",
  };
}

/** RFC 5321 §4.1.1.1: `Domain` or `address-literal`. Many servers refuse an address without brackets as forged. */
function isEhloName(name: string): boolean {
  const literal = /^\[(.*)\]$/.exec(name)?.[1];
  if (literal === undefined) return DOMAIN.test(name) && !isIPv4(name);
  const tagged = /^IPv6:([0-9a-f:.]+)$/i.exec(literal)?.[1];
  return tagged === undefined ? isIPv4(literal) : isIPv6(tagged);
}

/** RFC 5321 §4.1.2; a label has at most 63 octets (RFC 1035 §2.3.4). */
const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`, "i");

/** What is said of a connector whose hosts are greeted with a name that many refuse; empty for any other. */
export function greetingAdvice(ehloName: string | undefined): string {
  const name = ehloName ?? machineName();
  // A domain name with one label is nobody's (RFC 5321 §2.3.5), and this address is the server's own.
  const isRefused = name === LOOPBACK || !(name.includes(".") || name.startsWith("["));
  return isRefused
    ? `; it greets as ${name}, which many hosts refuse: set ehlo_name to the full domain name of the sending address`
    : "";
}

const LOOPBACK = "[127.0.0.1]";

/** What nodemailer sends where no name is set. */
function machineName(): string {
  return hostname().includes(".") ? hostname() : LOOPBACK;
}
