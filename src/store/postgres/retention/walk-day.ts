import type { MessageStatus } from "../../../core/messages/message.ts";
import { FINAL_STATUSES } from "../../messages/final-statuses.ts";
import type { UpkeepStore } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { type RemovedMessage, removeLeftovers, removeMessages } from "../messages/message-removal.ts";
import { dayOf, lowestUuid } from "./days.ts";
import { beginWalk, endWalk, findOldDay, notePosition, type OldDay } from "./old-days.ts";
import { swapMessages } from "./swap-day.ts";

/** One step of a day that is over on its way out. */
export interface Step {
  readonly day: number;
  readonly bounds: Parameters<UpkeepStore["pruneMessages"]>[0];
  /** Unfinished messages of a day that get a table of their own. */
  readonly maxKept: number;
}

/** Messages looked at in one step, as a multiple of its limit. */
const LOOKS_PER_LIMIT = 10;

/** How long a day that goes row by row is left alone between two walks. */
const BETWEEN_WALKS_MS = 3_600_000;

/** Within a transaction. How many messages went; at least 1 while a walk is under way. */
export async function walkDay(session: Session, step: Step): Promise<number> {
  const { day, bounds } = step;
  const isLast = day < dayOf(bounds.atLatest);
  const old = await findOldDay(session, day);
  if (!old || (isLast && !old.is_last)) {
    return walkOn(session, step, await beginWalk(session, day, { isLast, isByRow: false }));
  }
  if (old.position !== null) return walkOn(session, step, old);
  if (!old.is_by_row) return removeFinal(session, step);
  if (bounds.before < old.walked_before + BETWEEN_WALKS_MS) return 0;
  return walkOn(session, step, await beginWalk(session, day, { isLast, isByRow: true }));
}

async function walkOn(session: Session, { day, bounds, maxKept }: Step, old: OldDay): Promise<number> {
  const looks = bounds.limit * LOOKS_PER_LIMIT;
  const end = lowestUuid(day + 1);
  const rows = await session.query<LookedRow>(LOOK, [old.position, end, looks]);
  const isEnd = rows.length < looks;
  const position = isEnd ? end : (rows.at(-1)?.id ?? end);
  const { kept, gone } = sort(rows, old);
  if (old.is_by_row) await removeMessages(session, gone);
  else
    await removeLeftovers(session, { after: old.position ?? lowestUuid(day), last: position, except: kept });
  const noted = await notePosition(session, old, {
    position,
    seen: rows.length,
    kept: old.is_by_row ? [] : kept,
  });
  if (noted.kept > maxKept) {
    await beginWalk(session, day, { isLast: old.is_last, isByRow: true });
    return 1;
  }
  if (!isEnd) return Math.max(1, old.is_by_row ? gone.length : 0);
  if (old.is_by_row) await endWalk(session, day, bounds.before);
  else return endDay(session, noted, bounds.before);
  return gone.length;
}

interface LookedRow extends RemovedMessage {
  readonly status: MessageStatus;
}

const LOOK = "SELECT id, status, content FROM messages WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3";

function sort(rows: readonly LookedRow[], { is_last: isLast }: OldDay) {
  const stays = ({ status }: LookedRow) => !isLast && !FINAL_STATUSES.has(status);
  return { kept: rows.filter(stays).map(({ id }) => id), gone: rows.filter((row) => !stays(row)) };
}

/** All have been looked at. */
async function endDay(session: Session, old: OldDay, before: number): Promise<number> {
  const isUnchanged = old.kept > 0 && old.kept === old.seen;
  await (isUnchanged ? endWalk(session, old.day, before) : swapMessages(session, old, before));
  return old.seen - old.kept;
}

/** Of the few that stayed, those that have ended since. */
async function removeFinal(session: Session, { day, bounds }: Step): Promise<number> {
  const values = [lowestUuid(day), lowestUuid(day + 1), [...FINAL_STATUSES], bounds.limit];
  const rows = await session.query<RemovedMessage>(FINAL, values);
  await removeMessages(session, rows);
  return rows.length;
}

const FINAL = `SELECT id, content FROM messages WHERE id >= $1 AND id < $2 AND status = ANY($3) ORDER BY id LIMIT $4`;
