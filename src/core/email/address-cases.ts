import { lowerAscii } from "../messages/erasure.ts";
import { addressKey } from "../suppressions/address-key.ts";

/**
 * The ways in which people write the letters of one address, for searches that ignore the case of ASCII letters only: those are
 * in lower case. Each half is as given, all small, all capitals, or has a capital at the beginning of each word.
 */
export function addressCases(address: string): readonly string[] {
  const at = address.lastIndexOf("@") + 1;
  const domains = letterCases(address.slice(at));
  const all = letterCases(address.slice(0, at)).flatMap((local) => domains.map((each) => `${local}${each}`));
  // Letters may share their capitals: ß and ss are both SS. A form that is small in another way may be somebody else's.
  const key = addressKey(address);
  return all.filter((form) => addressKey(form) === key);
}

function letterCases(text: string): readonly string[] {
  const small = text.toLowerCase();
  const titled = small.replaceAll(/(?<![\p{L}\p{M}\p{N}])\p{L}/gu, (letter) => letter.toUpperCase());
  return [...new Set([text, small, small.toUpperCase(), titled].map(lowerAscii))];
}
