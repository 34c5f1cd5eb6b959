/**
 * The certificates in a PEM text, each as it is written there; empty if anything is wrong with one of them. The text may contain
 * remarks between them, but no other PEM blocks, and nothing else on the lines of a block. Of a certificate only the outermost
 * length is checked, which finds texts that were cut off or have lost a line.
 */
export function certificatesIn(pem: string): readonly string[] {
  const blocks = [...pem.replaceAll("\r\n", "\n").matchAll(BLOCKS)];
  const isWhole = blocks.length === pem.match(BEGINNING)?.length;
  return isWhole && blocks.every(([, base64 = ""]) => isSequence(base64))
    ? blocks.map(([block]) => block)
    : [];
}

const BEGINNING = /-----BEGIN /g;
const BLOCKS =
  /^-----BEGIN CERTIFICATE-----[ \t]*\r?\n([A-Za-z0-9+/=\s]+)^-----END CERTIFICATE-----[ \t]*$/gm;

const DER_SEQUENCE = 0x30;

/** Whether it is a single DER SEQUENCE (X.690 §8.9) of the length that it states, as a certificate is (RFC 5280 §4.1). */
function isSequence(base64: string): boolean {
  const octets = octetsOf(base64);
  if (!octets) return false;
  const [tag, first, ...rest] = octets;
  if (tag !== DER_SEQUENCE || first === undefined) return false;
  if (first < 0x80) return rest.length === first;
  // The long form: the low bits tell how many octets the length has.
  const size = first & 0x7f;
  const length = rest.slice(0, size).reduce((sum, octet) => sum * 256 + octet, 0);
  return rest.length === size + length;
}

function octetsOf(base64: string): readonly number[] | undefined {
  try {
    return [...atob(base64)].map((each) => each.charCodeAt(0));
  } catch {
    return undefined;
  }
}
