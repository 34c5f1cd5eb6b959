import { createHmac, timingSafeEqual } from "node:crypto";
import type { PartRef } from "../../core/messages/outcome.ts";
import { isUuid } from "../../core/uuid.ts";

/** Names one recipient of one message in 40 letters and digits that only this installation can make. */
export interface PartTokens {
  /** Lower case. Throws where the id is no UUID, or the part not 0 to 255: nothing else is ever sent. */
  seal(of: PartRef): string;
  /** In either case, since mail servers change it. `undefined` for what was not made by `seal` under this key and purpose. */
  open(token: string): PartRef | undefined;
}

/** 16 octets of the id, one of the part, 8 of the HMAC: 25 octets, which base32 writes without a rest. */
const ID_OCTETS = 16;
const NAMED_OCTETS = 17;
const MAC_OCTETS = 8;

/** The shape of a token, for patterns. */
export const PART_TOKEN = "[a-z2-7]{40}";

const TOKEN = new RegExp(`^${PART_TOKEN}$`);

/** `purpose` keeps tokens of one use from being taken for those of another. */
export function createPartTokens(key: Uint8Array, purpose: string): PartTokens {
  const macOf = (named: Uint8Array) =>
    createHmac("sha256", key).update(`${purpose}\0`).update(named).digest().subarray(0, MAC_OCTETS);

  return {
    seal({ messageId, part }) {
      if (!isUuid(messageId) || !Number.isInteger(part) || part < 0 || part > 255) {
        throw new Error("a token names a UUID and a part from 0 to 255");
      }
      const named = Buffer.concat([Buffer.from(messageId.replaceAll("-", ""), "hex"), Buffer.of(part)]);
      return toBase32(Buffer.concat([named, macOf(named)]));
    },
    open(token) {
      const text = token.toLowerCase();
      if (!TOKEN.test(text)) return undefined;
      const octets = fromBase32(text);
      const named = octets.subarray(0, NAMED_OCTETS);
      if (!timingSafeEqual(macOf(named), octets.subarray(NAMED_OCTETS))) return undefined;
      return { messageId: toUuid(named.toString("hex", 0, ID_OCTETS)), part: named[ID_OCTETS] ?? 0 };
    },
  };
}

function toUuid(hex: string): string {
  const cuts = [0, 8, 12, 16, 20, 32];
  return cuts
    .slice(1)
    .map((end, index) => hex.slice(cuts[index], end))
    .join("-");
}

/** RFC 4648 §6, in lower case, of a multiple of five octets. */
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
