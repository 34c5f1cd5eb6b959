/** What a search for records compares, the same in both engines. */
import type { RecordKind, RecordTypes } from "../../core/records/accounts.ts";

/** Finds records by what they are called. */
export interface RecordSearch<K extends RecordKind> {
  /**
   * A part of one of the fields, in upper or lower case, or the whole id. Every character stands for itself. No text finds
   * the erased form of a recipient: who knows the recipient lists by the value of the field.
   */
  readonly text: string;
  readonly fields: readonly (keyof RecordTypes[K] & string)[];
}

/** The forms in which a name may have the text: a letter and its accent are one character in some, and two in others. */
export function formsOf(text: string): readonly string[] {
  return [...new Set([text, text.normalize("NFC"), text.normalize("NFD")])];
}

/**
 * Each character of a text, in upper and in lower case. A pattern names both, and columns are compared as they are: the
 * engines do not agree on the case of letters (SQLite knows that of ASCII, PostgreSQL that of its locale).
 */
export function casesOf(text: string): readonly (readonly string[])[] {
  return Array.from(text, (character) => {
    const [lower, upper] = [character.toLowerCase(), character.toUpperCase()];
    const cases = [character, lower, upper, upper.toLowerCase(), OTHER_CASES.get(lower) ?? character];
    return [...new Set(cases)].filter(isOneCharacter);
  });
}

/** A sigma where a word ends, and the capital of a letter whose usual upper case is two letters. By lower case. */
const OTHER_CASES: ReadonlyMap<string, string> = new Map([
  ["σ", "ς"],
  ["ß", "ẞ"],
]);

/** The upper case of some is several, as of `ﬁ`. */
function isOneCharacter(text: string): boolean {
  return Array.from(text).length === 1;
}
