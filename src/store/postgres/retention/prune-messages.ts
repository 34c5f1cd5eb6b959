import { isOutage } from "../../outage.ts";
import type { Retention } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { LOCKS } from "../database/lock-numbers.ts";
import { isLockTimeout } from "../database/sql-errors.ts";
import { isThere } from "../database/table-columns.ts";
import type { Database } from "../database/transactions.ts";
import { tryLock } from "../database/try-lock.ts";
import { removeLeftovers } from "../messages/message-removal.ts";
import { type Days, dayOf, daysWith, lowestUuid, tableOf } from "./days.ts";
import { findOldDay, forgetOldDay, noteContentsReduced } from "./old-days.ts";
import { countReferred, swapContents } from "./swap-day.ts";
import { type Step, walkDay } from "./walk-day.ts";

export interface PruneParts {
  readonly days: Days;
  /** For tests: the most unfinished messages of a day that are copied to new tables; with more, final ones go row by row. */
  readonly maxKept?: number;
}

const MAX_KEPT = 20_000;

/**
 * `Retention.pruneMessages`, a day at a time. A walk notes the unfinished messages, and deletes what belongs to the others
 * in tables that are not by day. Then the day's tables are replaced by new ones with only the unfinished messages, or dropped.
 * Each call takes one step of the first day that has something to do. A day that cannot be pruned, since a row of it is damaged for
 * example, keeps no other: only when nothing else is left to do, the call rejects for it.
 */
export function createPruneMessages(
  db: Database,
  { days, maxKept = MAX_KEPT }: PruneParts,
): Retention["pruneMessages"] {
  return async (bounds) => {
    const messages = new Set(await daysWith(db, "messages"));
    const contents = await daysWith(db, "contents");
    const stepOf = (day: number): Step => ({ day, bounds, maxKept });
    const isOver = (day: number) => day < dayOf(bounds.before);
    const failures: unknown[] = [];
    const passOverDay = (error: unknown) => {
      if (isOutage(error)) throw error;
      failures.push(error);
      return 0;
    };
    for (const day of [...messages].filter(isOver)) {
      const moved = await alone(db, (session) => walkDay(session, stepOf(day))).catch(passOverDay);
      // A day that was dropped must not be remembered as existing.
      days.forget();
      if (moved > 0) return moved;
    }
    // After all messages, since a day's contents also wait for the messages of the next day.
    for (const day of contents.filter(isOver)) {
      await alone(db, (session) => pruneContents(session, stepOf(day), messages)).catch(passOverDay);
      days.forget();
    }
    if (failures.length > 0) throw failures[0];
    return 0;
  };
}

/** Runs a step. Returns 0 if another process is pruning, or has locked what is to be dropped: the next call tries again. */
function alone(db: Database, step: (session: Session) => Promise<number>): Promise<number> {
  return db
    .transaction(async (session) => ((await tryLock(session, LOCKS.pruning)) ? step(session) : 0))
    .catch((error: unknown) => {
      if (isLockTimeout(error)) return 0;
      throw error;
    });
}

/**
 * Prunes a day's contents, once the day after is over as well: a batch over midnight has its content in the first day.
 * Always returns 0, since only messages are counted.
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
  // Another process may have dropped them since the days were listed.
  if (!(await isThere(session, tableOf("contents", day)))) return 0;
  const old = await findOldDay(session, day);
  const isLast = day + 1 < dayOf(bounds.atLatest);
  if (!isLast && (old?.contents === 1 || old?.is_by_row)) return 0;
  const referred = await countReferred(session, day, maxKept + 1);
  if (referred > maxKept) return 0;
  await swapContents(session, day, referred > 0);
  if (referred > 0) await noteContentsReduced(session, day);
  else await endDay(session, day);
  return 0;
}

/** To be called when no message of the day is left. Deletes what was written about some after the walk had passed them. */
async function endDay(session: Session, day: number): Promise<void> {
  await removeLeftovers(session, { after: lowestUuid(day), last: lowestUuid(day + 1), except: [] });
  await forgetOldDay(session, day);
}
