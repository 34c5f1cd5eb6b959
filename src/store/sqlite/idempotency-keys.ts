import { hash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Idempotency, SavedAnswer } from "../../core/accept-request.ts";
import type { Database } from "./database.ts";

/** Answers saved under idempotency keys. All but `find` belong inside a transaction. */
export interface IdempotencyKeys {
  find(key: Pick<Idempotency, "scope" | "key" | "now">): SavedAnswer | undefined;
  /** Saves the answer if the key is new or has expired; else saves nothing and gives the first answer. */
  take(key: Idempotency, answer: Omit<SavedAnswer, "bodyDigest">): SavedAnswer | undefined;
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
  const findNow = (name: Uint8Array, now: number): SavedAnswer | undefined => {
    const row = find.get(name, now);
    return row && { status: row.status, body: toSavedText(row.body), bodyDigest: row.body_digest };
  };
  return {
    find: (key) => findNow(nameOf(key), key.now),
    take(key, answer) {
      const name = nameOf(key);
      const body = toSavedBody(answer.body);
      const save = () => insert.run(name, key.bodyDigest, answer.status, body, key.expiresAt) === 1;
      if (save()) return undefined;
      const first = findNow(name, key.now);
      if (first) return first;
      removeExpired.run(name, key.now);
      save();
      return undefined;
    },
    prune: (now, limit) => prune.run(limit, now),
  };
}

/** Text, or raw deflate where it is long. */
export type SavedBody = string | Uint8Array;

interface KeyRow {
  readonly body_digest: string;
  readonly status: number;
  readonly body: SavedBody;
}

function nameOf({ scope, key }: Pick<Idempotency, "scope" | "key">): Uint8Array {
  return hash("sha256", `${scope.length}:${scope}${key}`, "buffer");
}

export function toSavedBody(body: string): SavedBody {
  return body.length < DEFLATE_FROM_CHARACTERS ? body : deflateRawSync(body, { level: 1 });
}

export function toSavedText(stored: SavedBody): string {
  return typeof stored === "string" ? stored : inflateRawSync(stored).toString("utf8");
}
