import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import type { DkimPair } from "../../../core/domains/domain.ts";
import type { RandomBytes } from "../../../core/uuid.ts";

/** The keys of a pair. */
export type DkimKeys = Pick<
  DkimPair,
  "rsaPublicKey" | "rsaPrivateKey" | "ed25519PublicKey" | "ed25519PrivateKey"
>;

/** What makes them; tests, for which RSA keys take too long, keep some. */
export type MakeDkimKeys = () => Promise<DkimKeys>;

interface PairDeps {
  readonly makeDkimKeys: MakeDkimKeys;
  readonly randomBytes: RandomBytes;
}

/** A new pair, with a new selector. */
export async function newDkimPair(
  { makeDkimKeys, randomBytes }: PairDeps,
  createdAt: number,
): Promise<DkimPair> {
  return { selector: newSelector(randomBytes), ...(await makeDkimKeys()), createdAt };
}

/** Random: two accounts may share a domain, and each signs with its own keys. */
function newSelector(randomBytes: RandomBytes): string {
  return `pr${Buffer.from(randomBytes(4)).toString("hex")}`;
}

const makeKeys = promisify(generateKeyPair);

/** A new RSA key of 2048 bits (RFC 8301) and a new Ed25519 key, made off the event loop. */
export async function makeDkimKeys(): Promise<DkimKeys> {
  const [rsa, ed25519] = await Promise.all([makeKeys("rsa", { modulusLength: 2048 }), makeKeys("ed25519")]);
  const ed25519Spki = ed25519.publicKey.export({ type: "spki", format: "der" });
  return {
    rsaPublicKey: rsa.publicKey.export({ type: "spki", format: "der" }).toString("base64"),
    rsaPrivateKey: rsa.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    // The key itself is the end of its SPKI (RFC 8410 §4).
    ed25519PublicKey: ed25519Spki.subarray(-32).toString("base64"),
    ed25519PrivateKey: ed25519.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}
