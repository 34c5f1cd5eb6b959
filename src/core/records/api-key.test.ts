import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { apiKeyPrefix, isWellFormedApiKey, makeApiKey } from "./api-key.ts";

describe("API keys", () => {
  test("a new key is well formed, and unlike any other", () => {
    const keys = Array.from({ length: 500 }, () => makeApiKey(randomBytes));
    for (const key of keys) {
      expect(key).toMatch(/^pr_live_[0-9A-Za-z]{38}$/);
      expect(isWellFormedApiKey(key)).toBe(true);
    }
    expect(new Set(keys).size).toBe(500);
  });

  test("the checksum is the CRC-32 of what stands before it", () => {
    const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const key = makeApiKey(randomBytes);
    const value = [...key.slice(-6)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);
    expect(value).toBe(crc32(key.slice(0, -6)));
  });

  test("one changed character is noticed", () => {
    const key = makeApiKey(randomBytes);
    for (let i = 8; i < key.length; i++) {
      const other = key[i] === "a" ? "b" : "a";
      expect(isWellFormedApiKey(key.slice(0, i) + other + key.slice(i + 1))).toBe(false);
    }
  });

  test("other texts are not keys", () => {
    const key = makeApiKey(randomBytes);
    for (const text of ["", "pr_live_", key.slice(1), `${key}0`, `${key}\n`, key.replace("live", "test")]) {
      expect(isWellFormedApiKey(text)).toBe(false);
    }
  });

  test("octets that would favour some characters are thrown away", () => {
    let call = 0;
    const source = (count: number) => new Uint8Array(count).fill(call++ === 0 ? 255 : 61);
    expect(makeApiKey(source)).toStartWith(`pr_live_${"z".repeat(32)}`);
  });

  test("the prefix to show holds four of the random characters", () => {
    expect(apiKeyPrefix("pr_live_abcdefgh")).toBe("pr_live_abcd");
  });
});
