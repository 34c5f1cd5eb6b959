import { hash } from "node:crypto";
import type { Idempotency } from "../../core/messages/accept-request.ts";

/** The SHA-256 by which an idempotency key is stored, the same in both engines, since a move copies it. */
export function keyDigest({ scope, key }: Pick<Idempotency, "scope" | "key">): Buffer {
  return hash("sha256", `${scope.length}:${scope}${key}`, "buffer");
}
