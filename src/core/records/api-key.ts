import type { RandomBytes } from "../uuid.ts";
import type { Account } from "./accounts.ts";
import { BASE62, randomBase62 } from "./random-base62.ts";
import type { StoredSettings } from "./settings.ts";

/** Whose request it is, by its API key. */
export interface KeyOwner {
  readonly keyId: string;
  readonly account: Account;
  /** Settings of the account over those of the instance; names of `core/records/settings.ts`. Unset ones are absent. */
  readonly settings: StoredSettings;
}

/**
 * A new API key: `pr_live_`, 32 random base62 characters (190 bits) and a 6-character checksum. The checksum reveals a mistyped
 * key without a look into the database, and lets scanners recognise a leaked one.
 */
export function makeApiKey(randomBytes: RandomBytes): string {
  const body = PREFIX + randomBase62(RANDOM_LENGTH, randomBytes);
  return body + checksum(body);
}

export function isWellFormedApiKey(text: string): boolean {
  return text.length === KEY_LENGTH && KEY.test(text) && checksum(text.slice(0, -6)) === text.slice(-6);
}

/** The first 12 characters, which are all of a key that is ever shown again. */
export function apiKeyPrefix(key: string): string {
  return key.slice(0, 12);
}

const PREFIX = "pr_live_";
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const KEY_LENGTH = PREFIX.length + RANDOM_LENGTH + CHECKSUM_LENGTH;
const KEY = /^pr_live_[0-9A-Za-z]{38}$/;

/** CRC-32 in base62, padded with zeros: 62^6 exceeds 2^32. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** ISO 3309, reflected, of ASCII text. */
function crc32(text: string): number {
  let crc = -1;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (-(crc & 1) & 0xedb88320);
  }
  return ~crc >>> 0;
}
