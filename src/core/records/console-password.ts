import type { RandomBytes } from "../uuid.ts";
import { randomBase62 } from "./random-base62.ts";

/** 142 bits, which nobody can guess, so it is safe to store a plain digest of the password. */
const LENGTH = 24;

/** A new password for the web console. */
export function makeConsolePassword(randomBytes: RandomBytes): string {
  return randomBase62(LENGTH, randomBytes);
}
