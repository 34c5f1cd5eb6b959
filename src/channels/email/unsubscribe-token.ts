import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type { TokenKeys } from "./part-token.ts";
import { toUuid, toUuidOctets } from "./uuid-octets.ts";

/** A recipient who wants no more mail of an account. */
export interface Unsubscription {
  readonly accountId: string;
  /** The message whose link was used: the source of the suppression. */
  readonly messageId: string;
  /** In lower case. */
  readonly email: string;
}

/**
 * Links outlive messages, so a token holds all that is needed to act on it. It is authenticated, so that nobody can forge one, and
 * encrypted, so that no proxy's log shows an address. The same recipient of the same message always gets the same token: a mail has
 * to be the same octets whenever it is composed.
 */
export interface UnsubscribeTokens {
  /** Letters, digits, `-` and `_`, at most 440 of them. */
  seal(wish: Unsubscription): string;
  /** `undefined` for a token that was not made with such a key. */
  open(token: string): Unsubscription | undefined;
}

const IV_OCTETS = 16;
const UUID_OCTETS = 16;
const TOKEN = /^[A-Za-z0-9_-]{64,480}$/;

export function createUnsubscribeTokens(...[newest, ...earlier]: TokenKeys): UnsubscribeTokens {
  const { seal, open } = createTokens(newest);
  const others = earlier.map(createTokens);
  return {
    seal,
    open: (token) => others.reduce((found, each) => found ?? each.open(token), open(token)),
  };
}

/** The IV is an HMAC of the plain text (like SIV, RFC 5297). It serves as the nonce and as the proof. */
function createTokens(key: Uint8Array): UnsubscribeTokens {
  const derived = (purpose: string) => Buffer.from(hkdfSync("sha256", key, "", `unsubscribe ${purpose}`, 32));
  const [macKey, cipherKey] = [derived("proof"), derived("cipher")];
  const proofOf = (plain: Uint8Array) =>
    createHmac("sha256", macKey).update(plain).digest().subarray(0, IV_OCTETS);

  return {
    seal({ accountId, messageId, email }) {
      const plain = Buffer.concat([
        toUuidOctets(accountId),
        toUuidOctets(messageId),
        Buffer.from(email, "utf8"),
      ]);
      const iv = proofOf(plain);
      const cipher = createCipheriv("aes-256-ctr", cipherKey, iv);
      return Buffer.concat([iv, cipher.update(plain), cipher.final()]).toString("base64url");
    },
    open(token) {
      if (!TOKEN.test(token)) return undefined;
      const sealed = Buffer.from(token, "base64url");
      const iv = sealed.subarray(0, IV_OCTETS);
      const cipher = createDecipheriv("aes-256-ctr", cipherKey, iv);
      const plain = Buffer.concat([cipher.update(sealed.subarray(IV_OCTETS)), cipher.final()]);
      if (plain.length <= 2 * UUID_OCTETS || !timingSafeEqual(proofOf(plain), iv)) return undefined;
      return {
        accountId: toUuid(plain.subarray(0, UUID_OCTETS)),
        messageId: toUuid(plain.subarray(UUID_OCTETS, 2 * UUID_OCTETS)),
        email: plain.toString("utf8", 2 * UUID_OCTETS),
      };
    },
  };
}
