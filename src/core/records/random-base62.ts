import type { RandomBytes } from "../uuid.ts";

export const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The largest multiple of 62 in an octet. Octets from here on are dropped, because some characters would be more likely otherwise. */
const UNBIASED = 248;

/** Random letters and digits, each as likely as the others: nearly 6 bits per character. */
export function randomBase62(length: number, randomBytes: RandomBytes): string {
  let text = "";
  while (text.length < length) {
    for (const octet of randomBytes(length)) {
      if (octet < UNBIASED && text.length < length) text += BASE62.charAt(octet % 62);
    }
  }
  return text;
}
