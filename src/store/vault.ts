import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import type { RandomBytes } from "../core/uuid.ts";

/** Seals secrets at rest: AES-256-GCM under a key derived from the master key. */
export interface Vault {
  /** `place` (table, column, id) is authenticated too: a sealed value moved to another row does not open. */
  seal(plain: string, place: string): string;
  /** Throws when the value was made under another key, for another place, or changed. */
  open(sealed: string, place: string): string;
  /** 32 random octets, in hex. */
  newSecret(): string;
  /** Differs from one master key to the next, and reveals nothing of it. */
  readonly checkValue: string;
}

const VERSION = "v1.";
const NONCE_OCTETS = 12;
const TAG_OCTETS = 16;
const SECRET_OCTETS = 32;

export function createVault(options: {
  /** 32 random octets, or a long secret. */
  readonly masterKey: string | Uint8Array;
  readonly randomBytes: RandomBytes;
}): Vault {
  const key = derive(options.masterKey, "postrider secrets at rest");
  const checkKey = derive(options.masterKey, "postrider check value");
  return {
    checkValue: createHmac("sha256", checkKey).update("master key").digest("hex"),
    newSecret: () => Buffer.from(options.randomBytes(SECRET_OCTETS)).toString("hex"),
    seal(plain, place) {
      const nonce = options.randomBytes(NONCE_OCTETS);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(place, "utf8"));
      const octets = Buffer.concat([
        nonce,
        cipher.update(plain, "utf8"),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return VERSION + octets.toString("base64");
    },
    open(sealed, place) {
      const octets = Buffer.from(sealed.slice(VERSION.length), "base64");
      if (!sealed.startsWith(VERSION) || octets.length < NONCE_OCTETS + TAG_OCTETS) {
        throw new Error(`the secret in ${place} is not a sealed value`);
      }
      const decipher = createDecipheriv("aes-256-gcm", key, octets.subarray(0, NONCE_OCTETS))
        .setAAD(Buffer.from(place, "utf8"))
        .setAuthTag(octets.subarray(-TAG_OCTETS));
      const body = octets.subarray(NONCE_OCTETS, -TAG_OCTETS);
      try {
        return Buffer.concat([decipher.update(body), decipher.final()]).toString("utf8");
      } catch (cause) {
        throw new Error(`the secret in ${place} does not open under this master key`, { cause });
      }
    },
  };
}

function derive(masterKey: string | Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", masterKey, "", purpose, 32));
}
