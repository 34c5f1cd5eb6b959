/** True for text that every database and protocol here can hold: no NUL, and no unpaired surrogate. */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

export const NOT_STORABLE = "must not contain NUL or unpaired surrogates";

/** True for text with any C0 or C1 control character, DEL, or a line or paragraph separator. */
export function hasControls(text: string): boolean {
  return CONTROLS.test(text);
}

/** Printable ASCII without space, at least one character. */
export function isVisibleAscii(text: string): boolean {
  return VISIBLE_ASCII.test(text);
}

/** Whether a text has more than `limit` characters: code points, so an emoji outside the basic plane is one. */
export function isLonger(text: string, limit: number): boolean {
  // A code point is at most two units, so a text of more than twice as many units need not be counted.
  return text.length > limit && (text.length > 2 * limit || codePoints(text) > limit);
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
const VISIBLE_ASCII = /^[!-~]+$/;
