/** Optional parameters by tag (SMPP 3.4 §3.2.4). If a tag is sent twice, the last one counts. */
export type Tlvs = ReadonlyMap<number, Uint8Array>;

/**
 * Reads the fields of a PDU body in order. Never throws: past the end every field is 0 or empty, and `isShort` tells that the body
 * was too short for what was read.
 */
export interface OctetReader {
  u8(): number;
  /** A C-octet string (§3.1). Some SMSCs leave out its NUL; then it ends with the body. */
  cString(): string;
  octets(count: number): Buffer;
  /** The rest of the body as TLVs. One that is cut off is dropped. */
  tlvs(): Tlvs;
  isShort(): boolean;
}

export function createOctetReader(body: Buffer): OctetReader {
  let at = 0;
  let short = false;
  const octets = (count: number) => {
    if (at + count > body.length) short = true;
    const field = body.subarray(at, at + count);
    at += field.length;
    return field;
  };
  return {
    u8() {
      if (at >= body.length) short = true;
      return body[at++] ?? 0;
    },
    octets,
    cString() {
      if (at >= body.length) short = true;
      const nul = body.indexOf(0, at);
      const end = nul < 0 ? body.length : nul;
      const text = body.toString("latin1", at, end);
      at = Math.min(body.length, end + 1);
      return text;
    },
    tlvs: () => readTlvs(body, at),
    isShort: () => short,
  };
}

export const NO_TLVS: Tlvs = new Map();

function readTlvs(octets: Buffer, from: number): Tlvs {
  if (from + 4 > octets.length) return NO_TLVS;
  const tlvs = new Map<number, Uint8Array>();
  let at = from;
  while (at + 4 <= octets.length) {
    const end = at + 4 + octets.readUInt16BE(at + 2);
    if (end > octets.length) break;
    tlvs.set(octets.readUInt16BE(at), octets.subarray(at + 4, end));
    at = end;
  }
  return tlvs;
}

const NOTHING = Buffer.alloc(0);

/** A C-octet string: Latin-1, and a NUL. NULs within the text would end it early, and are left out. */
export function cString(text: string): Buffer {
  return Buffer.from(cText(text), "latin1");
}

/** A C-octet string as text, so that several fields can be written at once; see `cString`. */
export function cText(text: string): string {
  return `${text.replaceAll("\0", "")}\0`;
}

export function encodeTlvs(tlvs: Tlvs): Buffer {
  if (tlvs.size === 0) return NOTHING;
  const pieces: Uint8Array[] = [];
  for (const [tag, value] of tlvs) {
    const head = Buffer.alloc(4);
    head.writeUInt16BE(tag, 0);
    head.writeUInt16BE(value.length, 2);
    pieces.push(head, value);
  }
  return Buffer.concat(pieces);
}
