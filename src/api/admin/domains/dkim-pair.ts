import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import type { DkimPair } from "../../../core/domains/domain.ts";
import type { RandomBytes } from "../../../core/uuid.ts";

const makeKeys = promisify(generateKeyPair);

/** A new RSA key of 2048 bits (RFC 8301) and a new Ed25519 key, made off the event loop. */
export async function makeDkimPair(selector: string, now: number): Promise<DkimPair> {
  const [rsa, ed25519] = await Promise.all([makeKeys("rsa", { modulusLength: 2048 }), makeKeys("ed25519")]);
  const ed25519Spki = ed25519.publicKey.export({ type: "spki", format: "der" });
  return {
    selector,
    rsaPublicKey: rsa.publicKey.export({ type: "spki", format: "der" }).toString("base64"),
    rsaPrivateKey: rsa.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    // The key itself is the end of its SPKI (RFC 8410 §4).
    ed25519PublicKey: ed25519Spki.subarray(-32).toString("base64"),
    ed25519PrivateKey: ed25519.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    createdAt: now,
  };
}

/** Random: two accounts may share a domain, and each signs with its own keys. */
export function newSelector(randomBytes: RandomBytes): string {
  return `pr${Buffer.from(randomBytes(4)).toString("hex")}`;
}
