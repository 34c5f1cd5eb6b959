import type { Idempotency, RequestAnswer, SavedAnswer } from "../../../core/messages/accept-request.ts";
import { keyDigest } from "../../intake/key-digest.ts";
import type { Retention } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { isLockTimeout } from "../database/sql-errors.ts";
import type { Database, Transaction } from "../database/transactions.ts";
import { createOldRowDeletion } from "../retention/old-row-deletion.ts";

/** A key with the answer that is to be saved under it. */
interface NewKey extends Idempotency {
  readonly answer: RequestAnswer;
}

/** A key whose answer is asked for. */
export type AskedKey = Pick<Idempotency, "scope" | "key" | "now">;

/** The key's name in its table: the first half of its digest, as a UUID. */
export function keyName(key: Pick<Idempotency, "scope" | "key">): string {
  return keyDigest(key).toString("hex", 0, 16);
}

/** Another transaction has held one of the keys for too long: its answer is not known yet. */
export class KeyHeld extends Error {}

/** How long to wait for a key that another transaction is taking, while a connection is occupied. */
const PATIENCE_MS = 1_000;

/** Just long enough to take a free lock; 0 would be no limit. */
export const NO_PATIENCE_MS = 50;

/**
 * The patience of a transaction that alone may take its key: it waits only while the row is being erased or pruned. It also
 * holds for the transaction's later statements, whose locks have no limit then.
 */
export const WITHOUT_LIMIT = 0;

/**
 * Takes those of the keys that are new or have expired, and returns the indexes of the others. Keys are taken in order of
 * their names, so that two transactions cannot deadlock.
 *
 * @throws KeyHeld if another transaction is taking one of the keys, and does not end within `patienceMs`
 */
export async function takeKeys(
  session: Session,
  keys: readonly NewKey[],
  patienceMs = PATIENCE_MS,
): Promise<ReadonlySet<number>> {
  const names = keys.map(keyName);
  const taken = await session.query<{ name: string }>(TAKE, columnsOf(keys, patienceMs)).catch(throwHeld);
  const ours = new Set(taken.map(({ name }) => name.replaceAll("-", "")));
  return new Set(names.flatMap((name, index) => (ours.has(name) ? [] : [index])));
}

/** Saves an answer under a key that the transaction has locked, and found to be new or expired. */
export function saveAnswer(session: Transaction, key: NewKey): void {
  session.run(TAKE, columnsOf([key], WITHOUT_LIMIT));
}

function columnsOf(keys: readonly NewKey[], patienceMs: number) {
  return [
    keys.map(keyName),
    keys.map((key) => key.bodyDigest),
    keys.map((key) => key.answer.status),
    keys.map((key) => key.answer.body),
    keys.map((key) => key.now),
    keys.map((key) => key.expiresAt),
    String(patienceMs),
  ];
}

function throwHeld(error: unknown): never {
  throw isLockTimeout(error) ? new KeyHeld("a key is held", { cause: error }) : error;
}

/** Overwrites an expired row. `patience` sets the limit of the wait before the first row is touched. */
const TAKE = `WITH patience AS MATERIALIZED (SELECT set_config('lock_timeout', $7, true))
  INSERT INTO idempotency_keys AS k (name, body_digest, status, body, taken_at, expires_at)
  SELECT t.* FROM patience, unnest($1::uuid[], $2::text[], $3::int[], $4::text[], $5::bigint[], $6::bigint[])
    AS t (name) ORDER BY name
  ON CONFLICT (name) DO UPDATE SET body_digest = excluded.body_digest, status = excluded.status,
    body = excluded.body, taken_at = excluded.taken_at, expires_at = excluded.expires_at
  WHERE k.expires_at <= excluded.taken_at
  RETURNING name`;

/** The answers saved under keys that have not expired, by index of the key. */
export async function findAnswers(
  session: Session,
  keys: readonly AskedKey[],
): Promise<ReadonlyMap<number, SavedAnswer>> {
  if (keys.length === 0) return new Map();
  const rows = await session.query<AnswerRow>(FIND, [keys.map(keyName), keys.map((key) => key.now)]);
  return new Map(
    rows.map(({ index, status, body, body_digest: bodyDigest }) => [index - 1, { status, body, bodyDigest }]),
  );
}

/** Looks keys up one by one: if no key was left when statistics were taken, the planner would read all keys. */
const FIND = `SELECT t.index, k.status, k.body, k.body_digest
  FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS t (name, now, index),
    LATERAL (SELECT * FROM idempotency_keys WHERE name = t.name OFFSET 0) AS k
  WHERE k.expires_at > t.now`;

interface AnswerRow {
  readonly index: number;
  readonly status: number;
  readonly body: string;
  readonly body_digest: string;
}

/** Locks a key, whether taken or not, until the transaction ends. */
export function lockKey(session: Transaction, key: Pick<Idempotency, "scope" | "key">): void {
  const half = BigInt.asIntN(64, BigInt(`0x${keyName(key).slice(0, 16)}`));
  session.run("SELECT pg_advisory_xact_lock($1::bigint)", [String(half)]);
}

/** `Retention.pruneIdempotencyKeys`. Keys that others have locked are left to the next call. */
export function createPruneKeys(db: Database): Retention["pruneIdempotencyKeys"] {
  const prune = createOldRowDeletion(db, {
    select: `SELECT name AS id FROM idempotency_keys WHERE expires_at <= $1 AND name <> ALL($3::uuid[])
      ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED`,
    remove: "DELETE FROM idempotency_keys WHERE name = ANY(ARRAY(SELECT unnest($1::uuid[])))",
    nameOf: (name) => `idempotency key named ${name}`,
  });
  return (now, limit) => prune(now, now, limit);
}
