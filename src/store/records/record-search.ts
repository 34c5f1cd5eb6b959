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

/**
 * Each character of a text, in upper and in lower case. A pattern names both, and columns are compared as they are: the
 * engines do not agree on the case of letters (SQLite knows that of ASCII, PostgreSQL that of its locale).
 */
export function casesOf(text: string): readonly (readonly string[])[] {
  return Array.from(text, (character) => {
    const upper = character.toUpperCase();
    const cases = [character, character.toLowerCase(), upper, upper.toLowerCase()];
    if (upper === "Σ") cases.push(FINAL_SIGMA);
    return [...new Set(cases)].filter(isOneCharacter);
  });
}

/** How a sigma is written in lower case where a word ends. */
const FINAL_SIGMA = "ς";

/** The upper case of some is several: `ß` finds itself only. */
function isOneCharacter(text: string): boolean {
  return Array.from(text).length === 1;
}
