/** An E.164 number: `+`, a country code that does not start with 0, at most 15 digits. Made only by `parsePhoneNumber`. */
export type PhoneNumber = string & { readonly __brand: "PhoneNumber" };

/**
 * Reads a number as people write it (spaces, `-`, `.`, `(` and `)` are dropped) and normalises it; `undefined` if the text is
 * not a number. `00` stands for `+`. Indian mobile numbers may lack the country code: ten digits that begin with 6 to 9, alone or
 * after `0` or `91`. The length decides which of these it is, since `9198765432` is itself a mobile number. A zero in brackets after
 * the country code (`+44 (0)20 …`) is dialled within most countries only, and in some also from abroad: except before an Indian
 * mobile number it is refused, since with it the message would go to another number, or to none.
 */
export function parsePhoneNumber(text: string): PhoneNumber | undefined {
  if (isPlain(text)) return text as PhoneNumber;
  if (text.length > MAX_WRITTEN_LENGTH) return undefined;
  const bare = text.replace(PUNCTUATION, "");
  const international = bare.startsWith("00") ? `+${bare.slice(2)}` : bare;
  const number = international.startsWith("+")
    ? withoutTrunkZero(international, text)
    : withIndianPrefix(bare);
  return number !== undefined && E164.test(number) ? (number as PhoneNumber) : undefined;
}

/** A part of a number as people write it, without what they write between digits. Any other text stays as it is. */
export function toNumberPart(text: string): string {
  const bare = text.replace(PUNCTUATION, "");
  return NUMBER_PART.test(bare) ? bare : text;
}

export const EXPECTED_E164 = "expected E.164 format, for example +919876543210";
/** What is wrong with a text that `parsePhoneNumber` cannot read. */
export const INVALID_PHONE_NUMBER = `invalid phone number: ${EXPECTED_E164}`;

/** Whether India's DLT rules apply to an E.164 number. */
export function isIndian(number: string): boolean {
  return number.startsWith("+91");
}

/**
 * Whether a number, as a provider writes it, may be Indian; false if it clearly belongs to another country. A number without a
 * country code may be Indian if it has the form of an Indian mobile number; one that is missing, masked or has letters may be too.
 */
export function mayBeIndian(written: string | undefined): boolean {
  const number = (written ?? "").replace(PUNCTUATION, "");
  const digits = number.replace(INTERNATIONAL, "");
  if (!/^[0-9]{7,}$/.test(digits)) return true;
  return INTERNATIONAL.test(number) ? digits.startsWith("91") : INDIAN_MOBILE.test(digits);
}

/** The longest text that is read: room for 15 digits with separators between them. */
const MAX_WRITTEN_LENGTH = 40;
const BRACKETED_ZERO = /\( *0 *\)/;
const PUNCTUATION = /[ \-.()]/g;
const NUMBER_PART = /^\+?[0-9]{1,15}$/;
const INTERNATIONAL = /^(?:\+|00)/;
const E164 = /^\+[1-9][0-9]{6,14}$/;
const INDIAN_MOBILE = /^(?:0|91)?([6-9][0-9]{9})$/;
const INDIAN_TRUNK = /^\+910([6-9][0-9]{9})$/;

const PLUS = 0x2b;
const ZERO = 0x30;
const NINE = 0x39;

/** Whether the text is E.164 already, as it usually is. Faster than a regular expression. False for `+910…`, which may need repair. */
function isPlain(text: string): boolean {
  const length = text.length;
  if (length < 8 || length > 16 || text.charCodeAt(0) !== PLUS || text.charCodeAt(1) === ZERO) return false;
  for (let i = 1; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code < ZERO || code > NINE) return false;
  }
  return !text.startsWith("+910");
}

/**
 * Removes the national trunk prefix from `+910` and a mobile number, where it was kept by mistake. `undefined` if another country's
 * is in brackets.
 */
function withoutTrunkZero(international: string, written: string): string | undefined {
  const trunk = INDIAN_TRUNK.exec(international);
  if (trunk) return `+91${trunk[1]}`;
  return BRACKETED_ZERO.test(written) ? undefined : international;
}

function withIndianPrefix(digits: string): string | undefined {
  const mobile = INDIAN_MOBILE.exec(digits);
  return mobile ? `+91${mobile[1]}` : undefined;
}
