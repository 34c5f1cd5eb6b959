import { domainToUnicode } from "node:url";
import { addressCases } from "../core/email/address-cases.ts";
import { lowerAscii } from "../core/messages/erasure.ts";
import { addressKey } from "../core/suppressions/address-key.ts";

/**
 * The spellings in which an address may be stored, its key first. All are in lower case, and most addresses have only one. New
 * rows hold the key; the other spellings are in rows from before keys were used, which upgrading does not rewrite.
 */
export function spellingsOf(address: string): readonly string[] {
  const key = addressKey(address);
  const lower = address.toLowerCase();
  if (!isInternational(key)) return key === lower ? [key] : [key, lower];
  const unicode = toUnicode(key);
  return [...new Set([key, lower, unicode, unicode.normalize("NFD")])];
}

/** The spellings in which a domain may be stored; see `spellingsOf`. */
export function domainSpellingsOf(domain: string): readonly string[] {
  return spellingsOf(`@${domain}`).map((spelling) => spelling.slice(1));
}

/**
 * The forms in which messages may contain an address, as their senders wrote it; the given one first. ASCII letters are in lower
 * case only, because searches ignore their case. Other capitals are listed, because databases fold them differently.
 */
export function writingsOf(address: string): readonly string[] {
  const key = addressKey(address);
  const spellings = isInternational(key) ? spellingsOf(address) : [key];
  const others = [...spellings, ...[address, ...spellings].flatMap(addressCases)];
  return [address, ...new Set(others.filter((form) => form !== lowerAscii(address)))];
}

function isInternational(key: string): boolean {
  return /[@.]xn--/.test(key);
}

function toUnicode(key: string): string {
  const [local, domain] = halvesOf(key);
  const unicode = domainToUnicode(domain);
  return unicode === "" ? key : `${local}${unicode}`;
}

/** The local part with its `@`, and the domain. */
function halvesOf(address: string): readonly [string, string] {
  const end = address.lastIndexOf("@") + 1;
  return [address.slice(0, end), address.slice(end)];
}
