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
import type { Database } from "../database/database.ts";
import { emptyWal } from "../database/empty-wal.ts";
import { removeMeta, writeMeta } from "../database/meta.ts";
import { createFreePageErasure } from "./erase-free-pages.ts";
import { createSweeps } from "./erase-leftovers.ts";
import { createMessageErasure, type EraseMessageParts } from "./erase-messages.ts";
import { createParkedErasure } from "./erase-parked.ts";
import { createAnswerErasure } from "./erase-saved-answers.ts";
import { createSuppressionErasures, type EraseSuppressionParts } from "./erase-suppressions.ts";

/** Where a stretch begins, and about how many rows it may examine. */
export interface From extends Pick<TakenErasure, "goesOnAt"> {
  /** "" at the start. */
  readonly position: string;
  readonly looks: number;
}

/** Takes an erasure one stretch further through one table, or a few, inside a transaction. */
export type Walk = (task: ErasureTask, from: From) => Stretch;

export function createErasures(db: Database, parts: EraseParts): Erasures {
  const insert = db.prepare(
    `INSERT INTO erasures (id, account_id, recipient, salt, digest, created_at, last_id)
     VALUES (?, ?, ?, ?, ?, ?, (${LAST_ID}))`,
  );
  const select = `SELECT *, ${PASSED_OVER} FROM erasures`;
  const find = db.prepare<ErasureRow>(`${select} WHERE id = ?`);
  const lists = {
    oldest: db.prepare<ErasureRow>(`${select} WHERE id > ? ORDER BY id LIMIT ?`),
    newest: db.prepare<ErasureRow>(`${select} WHERE id < ? ORDER BY id DESC LIMIT ?`),
  } as const satisfies Record<ListOrder, unknown>;
  return {
    create: ({ id, accountId, recipient, salt, digest, createdAt }) =>
      db.write(() => {
        insert.run(id, accountId ?? null, recipient, salt, digest, createdAt);
        return { id, ...(accountId !== undefined && { accountId }), salt, digest, createdAt, ...NOTHING };
      }),
    advance: createAdvance(db, parts),
    find: (id) =>
      db.read(() => {
        const row = find.get(id);
        return row && toErasure(row);
      }),
    list: ({ order = "oldest", after = BEFORE_ALL[order], limit }) =>
      db.read(() => lists[order].all(after, limit).map(toErasure)),
  };
}

/** The highest id of all that an erasure leaves if it is newer. */
const LAST_ID = `SELECT max(id) FROM (SELECT max(id) AS id FROM messages UNION ALL SELECT max(id) FROM inbound_messages
  UNION ALL SELECT max(id) FROM sandbox_messages UNION ALL SELECT max(id) FROM contacts)`;

const NOTHING = { erased: 0, redacted: 0 };

type EraseParts = EraseMessageParts & EraseSuppressionParts;

/** `Erasures.advance`: one stretch of the oldest erasure under way. */
function createAdvance(db: Database, parts: EraseParts): Erasures["advance"] {
  // Saved answers first, since only their messages tell whose they are. Suppressions and opt-outs last, since attempts may add some.
  const walks: readonly Walk[] = [
    createAnswerErasure(db, parts.accounts),
    createMessageErasure(db, parts),
    createParkedErasure(db),
    ...createSweeps(db, parts.accounts),
    ...createSuppressionErasures(db, parts),
    createFreePageErasure(db),
  ];
  const { isAnyUnderWay, erase } = createStretches(db, walks);
  const erasing = createErasing();
  // True at the start: an erasure may have ended just before the last process did.
  let mustEmptyWal = true;
  // Asks in a read first: there is hardly ever an erasure under way.
  return async (now, looks) => {
    const isAny = await db.read(isAnyUnderWay);
    if (!isAny) {
      if (mustEmptyWal) mustEmptyWal = !(await db.outsideTransaction(() => emptyWal(db)));
      return 0;
    }
    mustEmptyWal = true;
    return erasing({ now, looks, erase: (most, parts) => db.write(() => erase(now, most, parts), most) });
  };
}

/** What takes the oldest erasure under way that does not wait one stretch further, or completes it. */
function createStretches(db: Database, walks: readonly Walk[]) {
  const underWay = db.prepare<ErasureRow>(
    `SELECT * FROM erasures WHERE completed_at IS NULL AND id NOT IN (SELECT value FROM json_each(?))
     ORDER BY id LIMIT 1`,
  );
  const advance = db.prepare(
    "UPDATE erasures SET walk = ?, position = ?, erased = erased + ?, redacted = redacted + ? WHERE id = ?",
  );
  const complete = db.prepare("UPDATE erasures SET completed_at = ?, recipient = NULL WHERE id = ?");
  const end = (id: string, now: number, left: Left | undefined) => {
    if (left) writeMeta(db, `${PASSED_OVER_OF}${id}`, String(left.count));
    else {
      complete.run(now, id);
      removeMeta(db, `${PASSED_OVER_OF}${id}`);
    }
  };

  const erase = (now: number, looks: number, { waiting, take }: ErasingParts): Erased => {
    const stored = underWay.get(JSON.stringify(waiting));
    if (!stored) return { moved: 0 };
    const { row, left, goesOnAt, ends } = take(stored);
    const current = currentWalk(row, walks);
    if (!current) {
      ends();
      end(row.id, now, left);
      return { moved: 1 };
    }
    const from = { position: row.position, looks, goesOnAt };
    const { next, isBlocked, erased = 0, redacted = 0 } = current.walk(current.task, from);
    const reached = placeBehind(row, next);
    const { walk, position } = left?.place ?? reached;
    advance.run(walk, position, erased, redacted, row.id);
    return { moved: isBlocked ? 0 : 1, reached };
  };
  return { isAnyUnderWay: () => underWay.get("[]") !== undefined, erase };
}
