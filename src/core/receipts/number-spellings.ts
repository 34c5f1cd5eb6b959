/** How a number is found in the words of a provider. */

/** As many digits at the end are enough to be the number: countries with short numbers have no more. */
export const OWN_DIGITS = 7;

/** What people and URLs put between digits. */
const BETWEEN = String.raw`(?:[\s().\/+-]|%20|&nbsp;){0,3}`;

/** What may stand in front of a number: no digit but those of `00`, a trunk's `0`, or an encoded character. */
const BEFORE = String.raw`(?:(?<!\d)|(?<=%[\dA-F]{2}))(?:\+|0{1,2})?`;

/** Finds a number however it is written: all of it, or its last digits, as far as they are there. */
export function spellingsOfNumber(number: string): RegExp {
  const digits = number.replace(/\D/g, "");
  const own = digits.slice(-OWN_DIGITS).split("").join(BETWEEN);
  const lead = digits.slice(0, -OWN_DIGITS).split("");
  const leading = lead.reduce((before, digit) => `(?:${before}${digit}${BETWEEN})?`, "");
  return new RegExp(`${BEFORE}${leading}${own}(?!\\d)`, "gi");
}
