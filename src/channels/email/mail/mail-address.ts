import { domainToASCII } from "node:url";

/**
 * An address as the envelope carries it: with its domain in ASCII, unless the local part needs SMTPUTF8 anyway
 * (RFC 6531). `undefined` for an address that must not stand between `<` and `>`: one with control characters, with angle brackets,
 * with blanks outside of quotes, with a domain that has no form in ASCII, or with a local part or domain that is longer than RFC 5321
 * §4.5.3.1 allows.
 */
export function toEnvelopeAddress(address: string): string | undefined {
  const at = address.lastIndexOf("@");
  const local = address.slice(0, at);
  const domain = address.slice(at + 1);
  const bare = QUOTED.test(local) ? local.replaceAll(" ", "") : local;
  if (at < 1 || domain === "" || UNSAFE.test(domain) || UNSAFE.test(bare)) return undefined;
  const ascii = toAscii(domain);
  const wireDomain = isAscii(local) ? ascii : domain;
  if (ascii === "" || Buffer.byteLength(local) > 64 || Buffer.byteLength(wireDomain) > 255) return undefined;
  return `${local}@${wireDomain}`;
}

/** The domain after the last `@`, in ASCII and in lower case, to look up or for a Message-ID. */
export function asciiDomainOf(address: string): string {
  return toAscii(address.slice(address.lastIndexOf("@") + 1)).toLowerCase() || "localhost";
}

/**
 * A domain in ASCII stays as it is: DNS knows it or not. IDNA has no word for some (`xn--zzzz`), and their mail would be for somebody
 * else. Empty for a domain that has no form in ASCII.
 */
function toAscii(domain: string): string {
  return isAscii(domain) ? domain : domainToASCII(domain);
}

export function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
  return /^[\u0000-\u007f]*$/.test(text);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are refused
const UNSAFE = /[\u0000-\u0020\u007f-\u00a0\u2028\u2029<>]/;
const QUOTED = /^"[^"\\]+"$/;
