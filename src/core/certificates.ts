const BEGINNING = /-----BEGIN /g;
const BLOCKS =
  /^-----BEGIN CERTIFICATE-----[ \t]*\r?\n([A-Za-z0-9+/=\s]+)^-----END CERTIFICATE-----[ \t]*$/gm;

/**
 * The certificates of a text in PEM that holds nothing else but remarks, each within lines of its own; none where anything
 * is wrong with one. Of what is in them only the frame is looked at: a text that was cut, or lost a line, has none.
 */
export function certificatesIn(pem: string): readonly string[] {
  const blocks = [...pem.replaceAll("\r\n", "\n").matchAll(BLOCKS)];
  const isWhole = blocks.length === pem.match(BEGINNING)?.length;
  return isWhole && blocks.every(([, base64 = ""]) => isSequence(base64))
    ? blocks.map(([block]) => block)
    : [];
}

/** One DER SEQUENCE (X.690 §8.9) that ends where it says, which a certificate is (RFC 5280 §4.1). */
function isSequence(base64: string): boolean {
  const octets = octetsOf(base64);
  if (octets?.[0] !== 0x30) return false;
  const first = octets[1] ?? 0;
  if (first < 0x80) return octets.length === 2 + first;
  const size = first & 0x7f;
  const length = octets.slice(2, 2 + size).reduce((sum, octet) => sum * 256 + octet, 0);
  return octets.length === 2 + size + length;
}

function octetsOf(base64: string): readonly number[] | undefined {
  try {
    return [...atob(base64)].map((each) => each.charCodeAt(0));
  } catch {
    return undefined;
  }
}
