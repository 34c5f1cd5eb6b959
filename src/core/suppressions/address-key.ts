/**
 * How an address is written where addresses are compared: all that is the same mailbox to us is the same text. Lower
 * case, an international domain in its ASCII form (RFC 5891 §4, mapped as UTS 46 says). What is no address, such as a
 * number, is only put in lower case.
 */
export function addressKey(address: string): string {
  const lower = address.toLowerCase();
  const at = lower.lastIndexOf("@");
  return at === -1 ? lower : `${lower.slice(0, at + 1)}${domainKey(lower.slice(at + 1))}`;
}

/** The same of a domain alone: all spellings of one domain are the same text. */
export function domainKey(domain: string): string {
  const lower = domain.toLowerCase();
  if (IS_ASCII.test(lower) || !IS_NAME.test(lower)) return lower;
  // The one way to IDNA among web standards.
  return URL.parse(`http://${lower}`)?.hostname || lower;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII
const IS_ASCII = /^[\u0000-\u007f]*$/;

/** Nothing that a URL would take for the end of the host. */
const IS_NAME = /^[a-z0-9._\-\u0080-\uffff]+$/;
