/** A mailbox address fit for an envelope and a header. Made only by `parseEmailAddress`. */
export type EmailAddress = string & { readonly __brand: "EmailAddress" };

/**
 * Reads `local@domain` (RFC 5321 §4.1.2), and nothing that parsers are known to disagree on: no display name, route,
 * comment, group, whitespace, address literal or obsolete form. The local part is a dot-atom, or quoted without line ends,
 * `"`, `\`, `<`, `>` and `@` inside the quotes; both may hold UTF-8 (RFC 6531). The domain has at least two labels, in ASCII
 * (`xn--…` included) or UTF-8. The address is returned as written, without needless quotes; the domain is converted to A-labels
 * when mail is sent. The limits are 64 octets for the local part and 254 in all.
 */
export function parseEmailAddress(text: string): EmailAddress | undefined {
  if (text.length > MAX_ADDRESS || !SHAPE.test(text)) return undefined;
  const at = text.lastIndexOf("@");
  const domain = text.slice(at + 1);
  if (!LABELS.test(domain) || ALL_DIGITS.test(domain)) return undefined;
  const fits = NON_ASCII.test(text) ? fitsUtf8(text.slice(0, at), domain) : at <= MAX_LOCAL;
  return fits ? (withoutNeedlessQuotes(text) as EmailAddress) : undefined;
}

/** `"ann"@…` is the same mailbox as `ann@…`, and the form with the fewest quotes should be sent (RFC 5321 §4.1.2). */
export function withoutNeedlessQuotes(address: string): string {
  return address.replace(NEEDLESSLY_QUOTED, "$1");
}

/** The part after `@` in lower case, for comparing. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1).toLowerCase();
}

const MAX_LOCAL = 64;
/** A path has at most 256 octets, angle brackets included (RFC 5321 §4.5.3.1.3, erratum 1690). */
const MAX_ADDRESS = 254;

/** `atext` of RFC 5322 §3.2.3, plus letters and the like outside ASCII. */
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\-\\u00a1-\\uffff]+";
const QUOTED = '"[ !#-;=?A-[\\]-~\\u00a1-\\uffff]+"';
const SHAPE = new RegExp(`^(?:${ATOM}(?:\\.${ATOM})*|${QUOTED})@[^@]+$`);
const NEEDLESSLY_QUOTED = new RegExp(`^"(${ATOM}(?:\\.${ATOM})*)"(?=@)`);

const LABEL = "[A-Za-z0-9\\u00a1-\\uffff](?:[A-Za-z0-9\\-\\u00a1-\\uffff]{0,61}[A-Za-z0-9\\u00a1-\\uffff])?";
const LABELS = new RegExp(`^${LABEL}(?:\\.${LABEL})+$`);
/** A domain whose last label is a number would be read as an IP address. */
const ALL_DIGITS = /(?:^|\.)[0-9]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII
const NON_ASCII = /[^\u0000-\u007f]/;
/**
 * Characters that an address with UTF-8 must not have: spaces other than that of ASCII; controls, direction marks, private and unassigned characters; the
 * full stops that IDNA reads as a dot. Characters that normalisation turns into one of `PUNCTUATION`, such as `＠`, are refused too.
 */
const STRANGE = /[\p{Z}\p{C}\u3002\uff61]/u;
const PUNCTUATION = /[<>()[\]\\,;:@".\s]/g;

function fitsUtf8(local: string, domain: string): boolean {
  const whole = `${local}@${domain}`;
  if (!whole.isWellFormed() || STRANGE.test(whole.replaceAll(" ", ""))) return false;
  if (countPunctuation(whole.normalize("NFKC")) !== countPunctuation(whole)) return false;
  const [localOctets, domainOctets] = [octets(local), octets(domain)];
  return localOctets <= MAX_LOCAL && localOctets + 1 + domainOctets <= MAX_ADDRESS;
}

function countPunctuation(text: string): number {
  return text.match(PUNCTUATION)?.length ?? 0;
}

function octets(text: string): number {
  return new TextEncoder().encode(text).length;
}
