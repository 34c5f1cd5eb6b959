import type { RandomBytes } from "../uuid.ts";
import { randomBase62 } from "./random-base62.ts";

/** 142 bits: nobody guesses it, so a plain digest of it may be stored. */
const LENGTH = 24;

/** A new password for the web console. */
export function makeConsolePassword(randomBytes: RandomBytes): string {
  return randomBase62(LENGTH, randomBytes);
}
