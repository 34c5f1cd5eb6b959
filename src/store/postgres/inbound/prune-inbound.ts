import { firstUuidAt } from "../../../core/uuid.ts";
import { createOldRowUpkeep } from "../../pass-over.ts";
import { createPruneRound, type PrunedStretch } from "../../prune-round.ts";
import type { Retention } from "../../store.ts";
import { UNFINISHED } from "../../webhooks/webhook-rows.ts";
import type { Session, SqlValue } from "../database/driver.ts";
import { NIL_UUID } from "../database/nil-uuid.ts";
import type { Database } from "../database/transactions.ts";
import { removeAttempts } from "../messages/message-removal.ts";

/**
 * `Retention.pruneInbound`: a walk through the old messages in order of id. Each process has a walk of its own, and passes over what
 * another one is deleting, and what cannot be deleted.
 */
export function createPruneInbound(db: Database): Retention["pruneInbound"] {
  const round = createPruneRound();
  const upkeep = createOldRowUpkeep<string>((id) => `inbound message ${id}`);
  return ({ before, atLatest, limit }) =>
    upkeep({
      limit,
      now: before,
      async run(most, waiting, take) {
        const walk = { after: round.from(before), before, limit: most, waiting, take };
        const done = await db.transaction(async (session) => {
          const values = [firstUuidAt(atLatest), most, [...waiting]];
          const oldest = (await session.query<{ id: string }>(OLDEST, values)).map(({ id }) => id);
          take(oldest);
          return oldest.length > 0 ? removeInbound(session, OVER, [oldest]) : walkOn(session, walk);
        });
        if (typeof done === "number") return done;
        // Only now, since what was rolled back has to be examined again.
        round.goOn(done);
        return done.isAtEnd ? done.pruned : Math.max(1, done.pruned);
      },
    });
}

const OLDEST = `SELECT id FROM inbound_messages WHERE id < $1 AND id <> ALL($3::uuid[])
  ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED`;

interface Walk {
  /** The id to go on after; "" at the beginning. */
  readonly after: string;
  readonly before: number;
  readonly limit: number;
  /** Ids of those that stay since they cannot be deleted. */
  readonly waiting: ReadonlySet<string>;
  readonly take: (ids: readonly string[]) => void;
}

/** Examines the next messages, and deletes those of which no webhook is still to be delivered. */
async function walkOn(
  session: Session,
  { after, before, limit, waiting, take }: Walk,
): Promise<PrunedStretch & { readonly pruned: number }> {
  const values = [after === "" ? NIL_UUID : after, firstUuidAt(before), limit];
  const rows = await session.query<ExaminedRow>(EXAMINE, values);
  const over = rows.flatMap(({ id, is_telling: isTelling }) => (isTelling || waiting.has(id) ? [] : [id]));
  take(over);
  const pruned = over.length > 0 ? await removeInbound(session, OVER, [over]) : 0;
  return { pruned, last: rows.at(-1)?.id ?? after, isAtEnd: rows.length < limit };
}

interface ExaminedRow {
  readonly id: string;
  /** Whether a webhook about it has not come to its end. */
  readonly is_telling: boolean;
}

/** With a limit, so that the planner looks up each message's webhook, and does not read all webhooks to join them. */
const EXAMINE = `SELECT id, (SELECT true FROM webhooks w WHERE w.message_id = m.id AND w.${UNFINISHED} LIMIT 1) IS TRUE AS is_telling
  FROM inbound_messages m WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3`;

const OVER = "SELECT id FROM inbound_messages WHERE id = ANY($1) ORDER BY id FOR UPDATE SKIP LOCKED";

/**
 * Deletes the inbound messages whose ids a query selects, with their events and webhooks, inside a transaction. Returns how
 * many. In statements of their own, since each sees what others did while the one before waited for a lock: events that were
 * being numbered, and attempts that were being stored.
 */
export async function removeInbound(
  session: Session,
  ids: string,
  values: readonly SqlValue[],
): Promise<number> {
  const rows = await session.query<{ id: string }>(removeSql(ids), values);
  if (rows.length === 0) return 0;
  await removeAttempts(session, await session.query<{ id: number }>(REMOVE_MORE, [rows.map(({ id }) => id)]));
  return rows.length;
}

/**
 * By arrays, as a join might read a whole table again for each message. For the messages, it might even run the query again for
 * each row, and delete more than were asked for.
 */
function removeSql(ids: string): string {
  return `WITH old AS (
    DELETE FROM inbound_messages WHERE id = ANY(ARRAY(${ids})) RETURNING id
  ), new_told AS (
    DELETE FROM new_events WHERE subject_id = ANY(ARRAY(SELECT id FROM old))
  )
  SELECT id FROM old`;
}

const REMOVE_MORE = `WITH told AS (
    DELETE FROM events e USING unnest($1::uuid[]) AS old (id) WHERE e.subject_id = old.id
  )
  DELETE FROM webhooks WHERE message_id = ANY($1) RETURNING id`;
