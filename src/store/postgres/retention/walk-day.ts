import type { MessageStatus } from "../../../core/messages/message.ts";
import { HOUR_MS } from "../../../core/time/durations.ts";
import { FINAL_STATUSES } from "../../messages/final-statuses.ts";
import type { Retention } from "../../store.ts";
import { UNFINISHED } from "../../webhooks/webhook-rows.ts";
import type { Session } from "../database/driver.ts";
import { type RemovedMessage, removeLeftovers, removeMessages } from "../messages/message-removal.ts";
import { dayOf, lowestUuid } from "./days.ts";
import { beginWalk, endWalk, findOldDay, notePosition, type OldDay } from "./old-days.ts";
import { swapMessages } from "./swap-day.ts";

/** One step of pruning a day. */
export interface Step {
  readonly day: number;
  readonly bounds: Parameters<Retention["pruneMessages"]>[0];
  /** How many unfinished messages may be copied to new tables. */
  readonly maxKept: number;
}

/** How many messages one step examines, as a multiple of its limit. */
const EXAMINED_PER_LIMIT = 10;

/** How long a day whose messages are deleted row by row is left alone between two walks. */
const BETWEEN_WALKS_MS = HOUR_MS;

/** Takes the next step, inside a transaction. Returns how many messages were deleted, but at least 1 while a walk is under way. */
export async function walkDay(session: Session, step: Step): Promise<number> {
  const { day, bounds } = step;
  const isLast = day < dayOf(bounds.atLatest);
  const old = await findOldDay(session, day);
  if (!old || (isLast ? !old.is_last : wasByWrongClock(old, bounds))) {
    return walkOn(session, step, await beginWalk(session, day, { isLast, isByRow: false }));
  }
  if (old.position !== null) return walkOn(session, step, old);
  if (!old.is_by_row) return removeFinal(session, step);
  // Also one that is later than now: the clock was set back since.
  if (Math.abs(bounds.before - old.walked_before) < BETWEEN_WALKS_MS) return 0;
  // If those that stayed were mostly in their quiet hours, the day may be able to go whole by now.
  const isByRow = old.kept > step.maxKept;
  return walkOn(session, step, await beginWalk(session, day, { isLast, isByRow }));
}

/**
 * Whether the last walk began more than a day too early. If it went on, it would delete what is unfinished; if it has ended, the
 * real one would never begin.
 */
function wasByWrongClock({ day, is_last: isLast }: OldDay, { atLatest }: Step["bounds"]): boolean {
  return isLast && day > dayOf(atLatest);
}

async function walkOn(session: Session, { day, bounds, maxKept }: Step, old: OldDay): Promise<number> {
  const maxExamined = bounds.limit * EXAMINED_PER_LIMIT;
  const end = lowestUuid(day + 1);
  const since = bounds.quietSince ?? null;
  const rows = await session.query<ExaminedRow>(EXAMINE, [old.position, end, maxExamined, since]);
  const isEnd = rows.length < maxExamined;
  const position = isEnd ? end : (rows.at(-1)?.id ?? end);
  const { kept, gone, lasting } = separate(rows, old);
  if (old.is_by_row) await removeMessages(session, gone);
  else
    await removeLeftovers(session, { after: old.position ?? lowestUuid(day), last: position, except: kept });
  const told =
    isEnd && !old.is_by_row && !old.is_last ? await findToldInbound(session, day, maxKept + 1) : [];
  const noted = await notePosition(session, old, {
    position,
    seen: rows.length + told.length,
    ...(old.is_by_row ? { kept: [], counted: lasting } : { kept: [...kept, ...told] }),
  });
  if (!old.is_by_row && noted.kept > maxKept) {
    await beginWalk(session, day, { isLast: old.is_last, isByRow: true });
    return 1;
  }
  if (!isEnd) return Math.max(1, old.is_by_row ? gone.length : 0);
  if (old.is_by_row) await endWalk(session, day, bounds.before);
  else return endDay(session, noted, bounds.before);
  return gone.length;
}

interface ExaminedRow extends RemovedMessage {
  readonly status: MessageStatus;
  /** Whether a webhook about it has not come to its end, or was tried from `quietSince` on and has failed. */
  readonly is_telling: boolean;
  /** Whether its timeline has an entry from `quietSince` on. */
  readonly is_moving: boolean;
}

/** The parameter that holds `quietSince`, or NULL. */
type Since = "$4" | "$5";

/** With limits, so that the planner looks up each message's webhooks, and does not read all webhooks, or attempts, to join them. */
const telling = (since: Since) => `(SELECT true FROM webhooks w
    WHERE w.message_id = m.id AND (w.${UNFINISHED} OR w.state = 'failed'
      AND (SELECT true FROM webhook_attempts a WHERE a.webhook = w.id AND a.at >= ${since}::bigint LIMIT 1)) LIMIT 1)`;

/**
 * NULL if `since` is NULL. Says once more between which ids the messages are, so that only the table
 * of their day is looked at: otherwise each of them costs the choice among the tables of all days.
 */
const moving = (since: Since) => `(SELECT true FROM timeline t
    WHERE t.message_id = m.id AND t.message_id >= $1 AND t.message_id < $2 AND t.at >= ${since}::bigint LIMIT 1)`;

const EXAMINE = `SELECT id, status, content, ${telling("$4")} IS TRUE AS is_telling, ${moving("$4")} IS TRUE AS is_moving
  FROM messages m
  WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3`;

function separate(rows: readonly ExaminedRow[], { is_last: isLast }: OldDay) {
  const lasts = ({ status, is_telling: isTelling }: ExaminedRow) =>
    !isLast && (!FINAL_STATUSES.has(status) || isTelling);
  const stays = (row: ExaminedRow) => lasts(row) || (!isLast && row.is_moving);
  const kept = rows.filter(stays).map(({ id }) => id);
  return { kept, gone: rows.filter((row) => !stays(row)), lasting: rows.filter(lasts).length };
}

/**
 * Inbound messages of the day whose webhooks have not come to their end, `most` at the most: their events stay with those of the
 * messages that stay.
 */
async function findToldInbound(session: Session, day: number, most: number): Promise<readonly string[]> {
  const rows = await session.query<{ id: string }>(TOLD_INBOUND, [
    lowestUuid(day),
    lowestUuid(day + 1),
    most,
  ]);
  return rows.map(({ id }) => id);
}

/** By a subquery for each webhook, since the planner cannot know how few there are. */
const TOLD_INBOUND = `SELECT message_id AS id FROM webhooks w WHERE message_id > $1 AND message_id < $2 AND ${UNFINISHED}
  AND EXISTS (SELECT 1 FROM inbound_messages i WHERE i.id = w.message_id OFFSET 0) ORDER BY message_id LIMIT $3`;

/** Ends a walk that has examined all messages. */
async function endDay(session: Session, old: OldDay, before: number): Promise<number> {
  const isUnchanged = old.kept > 0 && old.kept === old.seen;
  await (isUnchanged ? endWalk(session, old.day, before) : swapMessages(session, old, before));
  return old.seen - old.kept;
}

/** Deletes messages that stayed, but have ended since. */
async function removeFinal(session: Session, { day, bounds }: Step): Promise<number> {
  const since = bounds.quietSince ?? null;
  const values = [lowestUuid(day), lowestUuid(day + 1), [...FINAL_STATUSES], bounds.limit, since];
  const rows = await session.query<RemovedMessage>(FINAL, values);
  await removeMessages(session, rows);
  return rows.length;
}

const FINAL = `SELECT id, content FROM messages m
  WHERE id >= $1 AND id < $2 AND status = ANY($3) AND ${telling("$5")} IS NULL AND ${moving("$5")} IS NULL
  ORDER BY id LIMIT $4`;
