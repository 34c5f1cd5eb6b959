import { hash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Idempotency, SavedAnswer } from "../../core/accept-request.ts";
import type { Database } from "./database.ts";

/** Answers saved under idempotency keys. All but `find` belong inside a transaction. */
export interface IdempotencyKeys {
  find(key: Pick<Idempotency, "scope" | "key" | "now">): SavedAnswer | undefined;
  /** Takes over the row of an expired key; one that has not expired throws, so `find` comes first. */
  save(key: Idempotency, answer: Omit<SavedAnswer, "bodyDigest">): void;
  /** Deletes expired keys among the oldest `limit`; how many. */
  prune(now: number, limit: number): number;
}

/** Longer answers (those of batches) are deflated: many identifiers, little in them. */
const DEFLATE_FROM_CHARACTERS = 4_096;

export function createIdempotencyKeys(db: Database): IdempotencyKeys {
  const find = db.prepare<KeyRow>(
    "SELECT body_digest, status, body FROM idempotency_keys WHERE name = ? AND expires_at > ?",
  );
  // Deleted and inserted again, so that the order by number stays the order in time.
  const removeExpired = db.prepare("DELETE FROM idempotency_keys WHERE name = ? AND expires_at <= ?");
  const insert = db.prepare(
    `INSERT INTO idempotency_keys (name, body_digest, status, body, expires_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (name) DO NOTHING`,
  );
  const prune = db.prepare(
    `DELETE FROM idempotency_keys WHERE number IN (
       SELECT number FROM (SELECT number, expires_at FROM idempotency_keys ORDER BY number LIMIT ?)
       WHERE expires_at <= ?)`,
  );
  return {
    find(key) {
      const row = find.get(nameOf(key), key.now);
      return row && { status: row.status, body: toText(row.body), bodyDigest: row.body_digest };
    },
    save(key, answer) {
      const name = nameOf(key);
      const row = [name, key.bodyDigest, answer.status, toStored(answer.body), key.expiresAt] as const;
      if (insert.run(...row) === 1) return;
      removeExpired.run(name, key.now);
      if (insert.run(...row) === 0) throw new Error("the idempotency key is taken");
    },
    prune: (now, limit) => prune.run(limit, now),
  };
}

interface KeyRow {
  readonly body_digest: string;
  readonly status: number;
  readonly body: string | Uint8Array;
}

function nameOf({ scope, key }: Pick<Idempotency, "scope" | "key">): Uint8Array {
  return hash("sha256", `${scope.length}:${scope}${key}`, "buffer");
}

function toStored(body: string): string | Uint8Array {
  return body.length < DEFLATE_FROM_CHARACTERS ? body : deflateRawSync(body, { level: 1 });
}

function toText(stored: string | Uint8Array): string {
  return typeof stored === "string" ? stored : inflateRawSync(stored).toString("utf8");
}
