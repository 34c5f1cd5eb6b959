import { withoutNeedlessQuotes } from "../email/email-address.ts";

/**
 * The form in which addresses are compared, the same for all spellings of one mailbox: in lower case, without needless quotes, with
 * an international domain in ASCII (RFC 5891 §4, mapped by UTS 46). A text that is no address, such as a number, is only put in
 * lower case.
 */
export function addressKey(address: string): string {
  const lower = withoutNeedlessQuotes(address.toLowerCase());
  const at = lower.lastIndexOf("@");
  return at === -1 ? lower : `${lower.slice(0, at + 1)}${domainKey(lower.slice(at + 1))}`;
}

/** The form in which domains are compared, the same as in `addressKey`. */
export function domainKey(domain: string): string {
  const lower = domain.toLowerCase();
  if (IS_ASCII.test(lower) || !IS_NAME.test(lower)) return lower;
  // The URL parser is the only way to IDNA among the web standards.
  return URL.parse(`http://${lower}`)?.hostname || lower;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII
const IS_ASCII = /^[\u0000-\u007f]*$/;

/** Without characters at which a URL parser would end the host. */
const IS_NAME = /^[a-z0-9._\-\u0080-\uffff]+$/;
