import { createHmac, timingSafeEqual } from "node:crypto";
import type { PartRef } from "../../core/messages/outcome.ts";
import { isUuid } from "../../core/uuid.ts";
import { toUuid, toUuidOctets } from "./uuid-octets.ts";

/** Tokens of 40 letters and digits. Each names one recipient of one message, and only this installation can make it. */
export interface PartTokens {
  /** Makes a token, in lower case. Throws unless the id is a UUID and the part 0 to 255, as in every message that is sent. */
  seal(of: PartRef): string;
  /** Reads a token, in either case, since mail servers change it. `undefined` if it was not made with such a key and purpose. */
  open(token: string): PartRef | undefined;
}

/** A token is the id (16 octets), the part (1) and an HMAC (8): 25 octets, which base32 writes without padding. */
const ID_OCTETS = 16;
const NAMED_OCTETS = 17;
const MAC_OCTETS = 8;

/** The pattern of a token, for use in other patterns. */
export const PART_TOKEN = "[a-z2-7]{40}";

const TOKEN = new RegExp(`^${PART_TOKEN}$`);

/** The first makes tokens. Those made with any of the others, which were first before, are read too. */
export type TokenKeys = readonly [newest: Uint8Array, ...earlier: Uint8Array[]];

/** @param purpose a token made for one purpose is not valid for another */
export function createPartTokens(purpose: string, keys: TokenKeys): PartTokens {
  const macOf = (key: Uint8Array, named: Uint8Array) =>
    createHmac("sha256", key).update(`${purpose}\0`).update(named).digest().subarray(0, MAC_OCTETS);

  return {
    seal({ messageId, part }) {
      if (!isUuid(messageId) || !Number.isInteger(part) || part < 0 || part > 255) {
        throw new Error("a token names a UUID and a part from 0 to 255");
      }
      const named = Buffer.concat([toUuidOctets(messageId), Buffer.of(part)]);
      return toBase32(Buffer.concat([named, macOf(keys[0], named)]));
    },
    open(token) {
      const text = token.toLowerCase();
      if (!TOKEN.test(text)) return undefined;
      const octets = fromBase32(text);
      const named = octets.subarray(0, NAMED_OCTETS);
      const mac = octets.subarray(NAMED_OCTETS);
      if (!keys.some((key) => timingSafeEqual(macOf(key, named), mac))) return undefined;
      return { messageId: toUuid(named.subarray(0, ID_OCTETS)), part: named[ID_OCTETS] ?? 0 };
    },
  };
}

/** Base32 (RFC 4648 §6) in lower case, of a multiple of five octets. */
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

function toBase32(octets: Uint8Array): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const octet of octets) {
    held = ((held << 8) | octet) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(held >> bits) & 31];
    }
  }
  return text;
}

function fromBase32(text: string): Buffer {
  const octets: number[] = [];
  let bits = 0;
  let held = 0;
  for (const letter of text) {
    held = ((held << 5) | ALPHABET.indexOf(letter)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    octets.push((held >> bits) & 0xff);
  }
  return Buffer.from(octets);
}
