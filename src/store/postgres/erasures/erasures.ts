import type { ListOrder } from "../../../core/lists/list-order.ts";
import {
  createErasing,
  type Erased,
  type ErasingParts,
  type Left,
  placeBehind,
  type TakenErasure,
} from "../../erasures/erasing.ts";
import {
  BEFORE_ALL,
  currentWalk,
  type ErasureRow,
  type ErasureTask,
  PASSED_OVER,
  type Stretch,
  toErasure,
} from "../../erasures/erasure-work.ts";
import { PASSED_OVER_OF } from "../../meta.ts";
import type { Erasures } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { removeMeta, writeMeta } from "../database/meta.ts";
import type { MessageChanges, MessageLog } from "../messages/message-log.ts";
import { eraseCounts, eraseParts, SWEEPS } from "./erase-leftovers.ts";
import { eraseMessages } from "./erase-messages.ts";
import { eraseParked } from "./erase-parked.ts";
import { eraseAnswers } from "./erase-saved-answers.ts";
import { createSuppressionErasures } from "./erase-suppressions.ts";
import type { ErasedNames } from "./erased-names.ts";

/** Where a stretch begins, and about how many rows it may examine. */
export interface From extends Pick<TakenErasure, "goesOnAt"> {
  /** "" at the start. */
  readonly position: string;
  readonly looks: number;
  readonly log: MessageLog;
}

/** Takes an erasure one stretch further through one table, or a few, inside a transaction. */
export type Walk = (session: Session, task: ErasureTask, from: From) => Promise<Stretch>;

export function createErasures(session: Session, parts: EraseParts): Erasures {
  const select = async (sql: string, values: readonly (string | number)[]) =>
    (await session.query<ErasureRow>(sql, values)).map(toErasure);
  return {
    async create({ id, accountId, recipient, salt, digest, createdAt }) {
      await session.query(INSERT, [id, accountId ?? null, recipient, salt, digest, createdAt]);
      const nothing = { erased: 0, redacted: 0 };
      return { id, ...(accountId !== undefined && { accountId }), salt, digest, createdAt, ...nothing };
    },
    advance: createAdvance(session, parts),
    find: async (id) => (await select(`${SELECT} WHERE id = $1`, [id]))[0],
    list: ({ order = "oldest", after = BEFORE_ALL[order], limit }) => select(LISTS[order], [after, limit]),
  };
}

const SELECT = `SELECT *, ${PASSED_OVER} FROM erasures`;

const LISTS = {
  oldest: `${SELECT} WHERE id > $1 ORDER BY id LIMIT $2`,
  newest: `${SELECT} WHERE id < $1 ORDER BY id DESC LIMIT $2`,
} as const satisfies Record<ListOrder, string>;

/** The highest id of all that an erasure leaves if it is newer. */
const LAST_ID = ["messages", "inbound_messages", "sandbox_messages", "contacts"]
  .map((table) => `(SELECT id FROM ${table} ORDER BY id DESC LIMIT 1)::text`)
  .join(", ");

const INSERT = `INSERT INTO erasures (id, account_id, recipient, salt, digest, created_at, last_id, last_job)
  VALUES ($1, $2, $3, $4, $5, $6, greatest(${LAST_ID}),
    coalesce(pg_sequence_last_value(pg_get_serial_sequence('jobs', 'id')), 0))`;

export interface EraseParts {
  readonly changes: MessageChanges;
  readonly erasedNames: ErasedNames;
}

/** `Erasures.advance`: one stretch of the oldest erasure under way that no other process is at work on. */
function createAdvance(session: Session, { changes, erasedNames }: EraseParts): Erasures["advance"] {
  // Saved answers first, since only their messages tell whose they are. Suppressions and opt-outs last, since attempts may add some.
  const walks: readonly Walk[] = [
    eraseAnswers,
    eraseMessages,
    eraseParked,
    ...SWEEPS,
    eraseCounts,
    eraseParts,
    ...createSuppressionErasures(erasedNames),
  ];
  const erasing = createErasing();
  // Asks without a transaction first: there is hardly ever an erasure under way.
  return async (now, looks) => {
    const isAny =
      (await session.query("SELECT 1 FROM erasures WHERE completed_at IS NULL LIMIT 1")).length > 0;
    if (!isAny) return 0;
    return erasing({
      now,
      looks,
      erase: (most, parts) =>
        changes((session, log) => eraseOn(session, walks, { now, looks: most, log, ...parts })),
    });
  };
}

interface ErasingOn extends ErasingParts {
  readonly now: number;
  readonly looks: number;
  readonly log: MessageLog;
}

async function eraseOn(
  session: Session,
  walks: readonly Walk[],
  { now, looks, log, waiting, take }: ErasingOn,
): Promise<Erased> {
  const [stored] = await session.query<ErasureRow>(UNDER_WAY, [waiting]);
  if (!stored) return { moved: 0 };
  const { row, left, goesOnAt, ends } = take(stored);
  const current = currentWalk(row, walks);
  if (!current) {
    ends();
    await end(session, row.id, { now, left });
    return { moved: 1 };
  }
  const from = { position: row.position, looks, log, goesOnAt };
  const { next, isBlocked, erased = 0, redacted = 0 } = await current.walk(session, current.task, from);
  const reached = placeBehind(row, next);
  const { walk, position } = left?.place ?? reached;
  await session.query(ADVANCE, [walk, position, erased, redacted, row.id]);
  return { moved: isBlocked ? 0 : 1, reached };
}

async function end(
  session: Session,
  id: string,
  { now, left }: { readonly now: number; readonly left: Left | undefined },
): Promise<void> {
  if (left) return writeMeta(session, `${PASSED_OVER_OF}${id}`, String(left.count));
  await session.query(COMPLETE, [now, id]);
  await removeMeta(session, `${PASSED_OVER_OF}${id}`);
}

const COMPLETE = "UPDATE erasures SET completed_at = $1, recipient = NULL WHERE id = $2";

const UNDER_WAY = `SELECT * FROM erasures WHERE completed_at IS NULL AND id <> ALL($1::text[]) ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`;

const ADVANCE = `UPDATE erasures SET walk = $1, position = $2, erased = erased + $3, redacted = redacted + $4
  WHERE id = $5`;
