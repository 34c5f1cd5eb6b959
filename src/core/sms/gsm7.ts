/** The GSM-7 default alphabet in code order, 0x00 to 0x7F (3GPP TS 23.038 §6.2.1). ESC, at 0x1B, leads to the extension table. */
const BASIC =
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";

/** Extension table (§6.2.1.1): a character is ESC and this code, two septets. */
const EXTENSION: Readonly<Record<string, number>> = {
  "\f": 0x0a,
  "^": 0x14,
  "{": 0x28,
  "}": 0x29,
  "\\": 0x2f,
  "[": 0x3c,
  "~": 0x3d,
  "]": 0x3e,
  "|": 0x40,
  "€": 0x65,
};

const ESC = 0x1b;

/** The code of each UTF-16 unit. A code of the extension table has ESC in its second octet. */
const CODES: ReadonlyMap<number, number> = codesByUnit();

/** What septets stand for. */
export interface Gsm7Tables {
  /** Alone: the characters in code order. */
  readonly alphabet: readonly string[];
  /** After ESC. */
  readonly extension: ReadonlyMap<number, string>;
}

export const STANDARD_GSM7: Gsm7Tables = {
  alphabet: [...BASIC],
  extension: new Map(Object.entries(EXTENSION).map(([character, code]) => [code, character])),
};

/** How many septets the text takes, 2 for a character of the extension table; `undefined` if GSM-7 cannot write it. */
export function gsm7Length(text: string): number | undefined {
  let septets = 0;
  for (let i = 0; i < text.length; i++) {
    const size = gsm7UnitLength(text.charCodeAt(i));
    if (size === 0) return undefined;
    septets += size;
  }
  return septets;
}

/** Septets of one UTF-16 unit: 1, 2 (extension table), or 0 if GSM-7 does not have it. */
export function gsm7UnitLength(unit: number): 0 | 1 | 2 {
  const code = CODES.get(unit);
  if (code === undefined) return 0;
  return code > 0x7f ? 2 : 1;
}

/**
 * The text as septets, one in each octet: unpacked, as SMPP carries them. Only for text that GSM-7 can write, by
 * `gsm7Length`; any other character becomes `?`.
 */
export function encodeGsm7(text: string): Uint8Array {
  const octets = new Uint8Array(text.length * 2);
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const code = CODES.get(text.charCodeAt(i)) ?? 0x3f;
    if (code > 0x7f) octets[length++] = ESC;
    octets[length++] = code & 0x7f;
  }
  return octets.subarray(0, length);
}

/** The text of unpacked septets. A code after ESC that the extension table lacks is read from the alphabet (§6.2.1.1). */
export function decodeGsm7(octets: Uint8Array, { alphabet, extension } = STANDARD_GSM7): string {
  let text = "";
  for (let i = 0; i < octets.length; i++) {
    const septet = (octets[i] ?? 0) & 0x7f;
    if (septet !== ESC) {
      text += alphabet[septet] ?? "";
      continue;
    }
    const second = octets[++i];
    if (second === undefined) break;
    const code = second & 0x7f;
    text += code === ESC ? " " : (extension.get(code) ?? alphabet[code] ?? "");
  }
  return text;
}

function codesByUnit(): Map<number, number> {
  const codes = new Map<number, number>();
  for (let code = 0; code < BASIC.length; code++) {
    if (code !== ESC) codes.set(BASIC.charCodeAt(code), code);
  }
  for (const [character, code] of Object.entries(EXTENSION)) {
    codes.set(character.charCodeAt(0), (ESC << 8) | code);
  }
  return codes;
}
