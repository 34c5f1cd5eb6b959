import { type ErasureTask, LOOKS_PER_MESSAGE } from "../../erasures/erasure-work.ts";
import type { Session } from "../database/driver.ts";
import type { From } from "./erasures.ts";

interface Through {
  readonly table: string;
  /** A column with an index; absent: `id`. */
  readonly key?: string;
  /** As SQL names the key's type. */
  readonly type: "uuid" | "text" | "bigint" | "integer";
}

/**
 * Finds where a stretch through a table ends: at the key of the last of the next rows, so many or, with a fraction, one more; `undefined`:
 * there are fewer. Reads keys only, not what may be damaged in their rows.
 */
export async function endOfStretch<Key extends number | string>(
  session: Session,
  { table, key = "id", type }: Through,
  { after, rows }: { readonly after: Key; readonly rows: number },
): Promise<Key | undefined> {
  const [end] = await session.query<{ key: Key }>(
    `SELECT ${key} AS key FROM ${table} WHERE ${key} > $1::${type} ORDER BY ${key} OFFSET $2 LIMIT 1`,
    [after, Math.ceil(rows) - 1],
  );
  return end?.key;
}

/** The accounts in which a stretch looks for what is found by the recipient: those numbered above `from`, up to `to`. */
interface AccountStretch {
  readonly from: number;
  /** `null`: all the others. */
  readonly to: number | null;
  /** The position to go on from; absent: there are no more. */
  readonly next?: string;
}

/** SQL that tells the accounts `a` of a stretch, or the one of $2; $3 and $4 are its ends. */
export const OF_STRETCH =
  "($2::text IS NULL OR a.id = $2) AND a.number > $3 AND ($4::integer IS NULL OR a.number <= $4)";

/** There may be something in each of so many accounts that one of them must not keep all others. */
export async function accountStretch(
  session: Session,
  { accountId }: ErasureTask,
  { position, looks, goesOnAt }: From,
): Promise<AccountStretch> {
  const from = Number(position);
  if (accountId !== undefined) return { from, to: null };
  const through = { table: "accounts", key: "number", type: "integer" } as const;
  const end = await endOfStretch(session, through, { after: from, rows: looks / LOOKS_PER_MESSAGE });
  if (end === undefined) return { from, to: null };
  goesOnAt(String(end));
  return { from, to: end, next: String(end) };
}
