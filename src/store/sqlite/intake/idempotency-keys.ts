import { deflateRawSync, inflateRawSync } from "node:zlib";
import { errorText } from "../../../core/error-text.ts";
import type { Idempotency, RequestAnswer, SavedAnswer } from "../../../core/messages/accept-request.ts";
import { keyDigest } from "../../intake/key-digest.ts";
import { createPutOffRows, UNREADABLE_MS } from "../../pass-over.ts";
import { isOutage, type Retention, RowPutOff } from "../../store.ts";
import type { Database } from "../database/database.ts";
import { createLateRows } from "../database/row-insert.ts";
import { createOldRowDeletion } from "../old-row-deletion.ts";
import { NUMBERS } from "../unreadable-rows.ts";
import { createKeyNumbers } from "./key-numbers.ts";

/** Answers saved under idempotency keys. `find` is for use inside or outside a transaction, `take` inside. */
export interface IdempotencyKeys {
  find(key: Pick<Idempotency, "scope" | "key" | "now">): SavedAnswer | undefined;
  /** Saves the answer if the key is new or has expired. Otherwise saves nothing, and returns the first answer. */
  take(key: Idempotency, answer: RequestAnswer): SavedAnswer | undefined;
  /** Deletes those of the oldest `limit` keys that have expired, in a transaction of its own; see `Retention`. */
  readonly prune: Retention["pruneIdempotencyKeys"];
}

/** Longer answers, which are those of batches, are deflated: they are lists of similar entries. */
const DEFLATE_FROM_CHARACTERS = 4_096;

/** How many names are merged into the index at a time: enough for each of its pages to get several, unless it is very large. */
const GENERATION = 32_768;

/** @param generation see `createKeyNumbers` */
export function createIdempotencyKeys(db: Database, generation = GENERATION): IdempotencyKeys {
  const numbers = createKeyNumbers(db, generation);
  const rows = createKeyRows(db);
  const prune = createKeyPrune(db);

  const findAt = (number: number | undefined, name: Uint8Array, now: number): SavedAnswer | undefined => {
    const row = number === undefined ? undefined : rows.find(number, name);
    return row && row.expires_at > now
      ? { status: row.status, body: toSavedText(row.body), bodyDigest: row.body_digest }
      : undefined;
  };
  return {
    find(key) {
      const name = keyDigest(key);
      return findAt(numbers.find(shortOf(name)), name, key.now);
    },
    take(key, { status, body }) {
      const name = keyDigest(key);
      const short = shortOf(name);
      const known = numbers.findInTransaction(short);
      const first = findAt(known, name, key.now);
      if (first) return first;
      if (known !== undefined) rows.remove(known, name);
      const row = { body_digest: key.bodyDigest, status, body: toSavedBody(body), expires_at: key.expiresAt };
      rows.add(numbers.add(short), name, row);
      return undefined;
    },
    prune,
  };
}

interface KeyRow {
  readonly body_digest: string;
  readonly status: number;
  readonly body: SavedBody;
  readonly expires_at: number;
}

/** Rows of keys, found by number; new ones are written at the end of the transaction. */
function createKeyRows(db: Database) {
  const find = db.prepare<KeyRow>(
    "SELECT body_digest, status, body, expires_at FROM idempotency_keys WHERE number = ? AND name = ?",
  );
  const remove = db.prepare("DELETE FROM idempotency_keys WHERE number = ? AND name = ?");
  const columns = "number, name, body_digest, status, body, expires_at";
  const late = createLateRows(db, { into: "idempotency_keys", columns });
  const unwritten = new Map<number, KeyRow>();
  const forget = () => unwritten.clear();
  db.beforeEnd(forget);
  db.onRollback(forget);
  return {
    find: (number: number, name: Uint8Array) => unwritten.get(number) ?? find.get(number, name),
    /** Removes an expired row, which is never one of this transaction. */
    remove: (number: number, name: Uint8Array) => void remove.run(number, name),
    add(number: number, name: Uint8Array, row: KeyRow): void {
      unwritten.set(number, row);
      late.push(number, name, row.body_digest, row.status, row.body, row.expires_at);
    },
  };
}

/** How many index entries are examined for each row that may be deleted. The calls go round the index, so each is seen in time. */
const ENTRIES_PER_ROW = 4;

function createKeyPrune(db: Database): IdempotencyKeys["prune"] {
  const remove = db.prepare("DELETE FROM idempotency_keys WHERE number = ?");
  const prune = createOldRowDeletion<{ readonly number: number }, number, number>(db, {
    table: "idempotency_keys",
    sql: `SELECT number FROM (SELECT number, expires_at FROM idempotency_keys WHERE number > ?3 ORDER BY number LIMIT ?2)
      WHERE expires_at <= ?1`,
    keys: NUMBERS,
    keyOf: ({ number }) => number,
    idOf: ({ number }) => number,
    nameOf: (number) => `idempotency key number ${number}`,
    remove: ({ number }) => remove.run(number),
  });
  const sweep = createNameSweep(db);
  return async (now, limit) => {
    const { count, waiting } = await prune(now, now, limit);
    await sweep({ now, limit, waiting });
    return count;
  };
}

interface NameSweep {
  readonly now: number;
  readonly limit: number;
  /** Numbers of rows that cannot be deleted, and have expired. */
  readonly waiting: ReadonlySet<number>;
}

/**
 * Deletes names whose row is gone, which do no harm. In order of name, since many then share a page. In a transaction of its own: if a page
 * of the names is damaged, the rows go all the same, and names wait for an hour.
 */
function createNameSweep(db: Database): (sweep: NameSweep) => Promise<void> {
  const oldest = db.prepare<{ number: number }>(
    "SELECT number FROM idempotency_keys ORDER BY number LIMIT ?",
  );
  const end = db.prepare<{ name: Uint8Array }>(
    "SELECT name FROM key_names WHERE name > ? ORDER BY name LIMIT 1 OFFSET ?",
  );
  const remove = db.prepare("DELETE FROM key_names WHERE name > ? AND name <= ? AND number < ?");
  const putOff = createPutOffRows<"names">();
  let last: Uint8Array = START;
  const sweepFrom = (from: Uint8Array, { limit, waiting }: NameSweep): Uint8Array => {
    const to = end.get(from, limit * ENTRIES_PER_ROW)?.name;
    const first = oldest.all(waiting.size + 1).find(({ number }) => !waiting.has(number));
    remove.run(from, to ?? END, first?.number ?? Number.MAX_SAFE_INTEGER);
    return to ?? START;
  };
  return async (sweep) => {
    if (putOff.ids(sweep.now).length > 0) return;
    try {
      last = await db.write(() => sweepFrom(last, sweep), sweep.limit);
    } catch (error) {
      if (isOutage(error)) throw error;
      putOff.add("names", sweep.now + UNREADABLE_MS);
      throw new RowPutOff(
        `names of idempotency keys, put off for ${UNREADABLE_MS / 1_000} s: ${errorText(error)}`,
      );
    }
  };
}

const START = new Uint8Array(0);
const END = new Uint8Array(17).fill(255);

/** The text of an answer, or, if it is long, its raw deflate. */
export type SavedBody = string | Uint8Array;

/** The first half of the digest. Names are found by it, and compared in full with the row. */
function shortOf(name: Buffer): string {
  return name.toString("latin1", 0, 16);
}

export function toSavedBody(body: string): SavedBody {
  return body.length < DEFLATE_FROM_CHARACTERS ? body : deflateRawSync(body, { level: 1 });
}

export function toSavedText(stored: SavedBody): string {
  return typeof stored === "string" ? stored : inflateRawSync(stored).toString("utf8");
}
