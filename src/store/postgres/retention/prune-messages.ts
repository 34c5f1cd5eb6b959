import type { UpkeepStore } from "../../store.ts";
import { isLockTimeout, type Session } from "../database/driver.ts";
import { LOCKS } from "../database/lock-numbers.ts";
import type { Database } from "../database/transactions.ts";
import { type Days, dayOf, daysWith } from "./days.ts";
import { findOldDay, noteContents } from "./old-days.ts";
import { countReferred, swapContents } from "./swap-day.ts";
import { type Step, walkDay } from "./walk-day.ts";

export interface PruneParts {
  readonly days: Days;
  /** For tests: unfinished messages of a day that get a table of their own; beyond it final ones go row by row. */
  readonly maxKept?: number;
}

const MAX_KEPT = 20_000;

/**
 * `UpkeepStore.pruneMessages`, a day at a time once it is over: a walk finds what is unfinished and deletes what hangs on
 * the others, then the day's tables are dropped but for what is unfinished. Each call is one step of the first day that
 * has something to do.
 */
export function createPruneMessages(
  db: Database,
  { days, maxKept = MAX_KEPT }: PruneParts,
): UpkeepStore["pruneMessages"] {
  return async (bounds) => {
    const messages = new Set(await daysWith(db, "messages"));
    const contents = new Set(await daysWith(db, "contents"));
    // The oldest first: contents outlast the messages of their day.
    const all = [...new Set([...contents, ...messages])].sort((one, other) => one - other);
    for (const day of all) {
      if (day >= dayOf(bounds.before)) break;
      const step = { day, bounds, maxKept };
      const moved = messages.has(day) ? await alone(db, (session) => walkDay(session, step)) : 0;
      // Whatever was dropped is not to be remembered as being there.
      days.forget();
      if (moved > 0) return moved;
      if (contents.has(day)) await alone(db, (session) => pruneContents(session, step, messages));
    }
    return 0;
  };
}

/** 0 where another process prunes, or where others are at work on what is to be dropped: there is a next time. */
function alone(db: Database, step: (session: Session) => Promise<number>): Promise<number> {
  return db
    .transaction(async (session) => ((await tryLock(session)) ? step(session) : 0))
    .catch((error: unknown) => {
      if (isLockTimeout(error)) return 0;
      throw error;
    });
}

async function tryLock(session: Session): Promise<boolean> {
  const [row] = await session.query<{ is_ours: boolean }>(
    `SELECT pg_try_advisory_xact_lock(${LOCKS.pruning}) AS is_ours`,
  );
  return row?.is_ours === true;
}

/**
 * A day's contents, once the day after is over as well: a batch over midnight has its content in the first day. No
 * message is counted here.
 */
async function pruneContents(
  session: Session,
  { day, bounds, maxKept }: Step,
  messages: ReadonlySet<number>,
): Promise<number> {
  if (day + 1 >= dayOf(bounds.before)) return 0;
  for (const each of [day, day + 1]) {
    if (messages.has(each) && (await findOldDay(session, each))?.position !== null) return 0;
  }
  const old = await findOldDay(session, day);
  const isLast = day + 1 < dayOf(bounds.atLatest);
  if (!isLast && (old?.contents === 1 || old?.is_by_row)) return 0;
  const referred = await countReferred(session, day, maxKept + 1);
  if (referred > maxKept) return 0;
  await swapContents(session, day, referred > 0);
  await noteContents(session, day, referred > 0 ? 1 : 2);
  return 0;
}
