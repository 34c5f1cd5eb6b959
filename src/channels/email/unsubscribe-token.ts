import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/** Who does not want what any more. */
export interface Unsubscription {
  readonly accountId: string;
  /** The message whose link it is: what the suppression goes back to. */
  readonly messageId: string;
  /** Lower case. */
  readonly email: string;
}

/**
 * Links outlive messages: a token holds all it takes to act on it, sealed, so that nobody can make one up and no proxy's
 * log shows an address. The same wish has the same token: a mail is the same octets every time it is composed.
 */
export interface UnsubscribeTokens {
  /** Letters, digits, `-` and `_`, at most 440 of them. */
  seal(wish: Unsubscription): string;
  /** `undefined` for what was not made by `seal` under this key. */
  open(token: string): Unsubscription | undefined;
}

const IV_OCTETS = 16;
const UUID_OCTETS = 16;
const TOKEN = /^[A-Za-z0-9_-]{64,480}$/;

/** The IV is the HMAC of what is sealed (as in SIV, RFC 5297): it serves as nonce and as proof. */
export function createUnsubscribeTokens(key: Uint8Array): UnsubscribeTokens {
  const derived = (purpose: string) => Buffer.from(hkdfSync("sha256", key, "", `unsubscribe ${purpose}`, 32));
  const [macKey, cipherKey] = [derived("proof"), derived("cipher")];
  const proofOf = (plain: Uint8Array) =>
    createHmac("sha256", macKey).update(plain).digest().subarray(0, IV_OCTETS);

  return {
    seal({ accountId, messageId, email }) {
      const plain = Buffer.concat([octets(accountId), octets(messageId), Buffer.from(email, "utf8")]);
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
        accountId: uuid(plain.subarray(0, UUID_OCTETS)),
        messageId: uuid(plain.subarray(UUID_OCTETS, 2 * UUID_OCTETS)),
        email: plain.toString("utf8", 2 * UUID_OCTETS),
      };
    },
  };
}

function octets(id: string): Buffer {
  return Buffer.from(id.replaceAll("-", ""), "hex");
}

function uuid(id: Buffer): string {
  return id.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
