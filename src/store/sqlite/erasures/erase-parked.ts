import { present } from "../../../core/present.ts";
import { createIsAbout, type ErasureTask, type Stretch } from "../../erasures/erasure-work.ts";
import { addressJson } from "../../messages/message-page.ts";
import type { Database } from "../database/database.ts";
import { NUMBERS } from "../unreadable-rows.ts";
import type { From, Walk } from "./erasures.ts";
import { createStretchEnd } from "./stretch-end.ts";

/**
 * Parked receipts belong to no account. Those about the recipient are deleted, unless the erasure is in one account and
 * another has a message to the recipient under way: then they may be about that one, and are left to pruning.
 */
export function createParkedErasure(db: Database): Walk {
  const search = createSearch(db);
  const sweep = createReceiptSweep(db);
  return (task, from) => {
    const [stage = "", at = ""] = from.position.split(" ");
    const step = task.accountId === undefined || stage === RECEIPTS ? sweep : search;
    return step(task, Number(at), from);
  };
}

const JOBS = "jobs";
const RECEIPTS = "receipts";

type Step = (task: ErasureTask, after: number, from: From) => Stretch;

/**
 * Searches for such a message: only one that was attempted and is not over can have an id that is not recorded yet. Passes over none that it
 * cannot look at, since that may be the one.
 */
function createSearch(db: Database): Step {
  const endOf = createStretchEnd<number>(db, { table: "jobs", key: "id", keys: NUMBERS });
  const others = db.prepare(
    `SELECT 1 FROM jobs j JOIN messages m ON m.id = j.message_id
     WHERE j.id > ?1 AND j.id <= ?2 AND j.claim > 0 AND m.account <> (SELECT number FROM accounts WHERE id = ?3)
       AND (m.recipient = ?4 OR instr(lower(m.parts), ?5) > 0) LIMIT 1`,
  );
  return ({ recipient, accountId = "" }, after, { looks }) => {
    const end = endOf({ after, rows: looks });
    if (others.get(after, end ?? Number.MAX_SAFE_INTEGER, accountId, recipient, addressJson(recipient)))
      return {};
    return { next: end === undefined ? `${RECEIPTS} 0` : `${JOBS} ${end}` };
  };
}

function createReceiptSweep(db: Database): Step {
  const endOf = createStretchEnd<number>(db, { table: "parked_receipts", key: "id", keys: NUMBERS });
  const list = db.prepare<{ id: number; at: number; receipt: string }>(
    "SELECT id, at, receipt FROM parked_receipts WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",
  );
  const remove = db.prepare("DELETE FROM parked_receipts WHERE id = ?");
  return ({ recipient, accountId, createdAt }, after, { looks, goesOnAt }) => {
    const nextOf = (end: number | undefined) => (end === undefined ? undefined : `${RECEIPTS} ${end}`);
    const end = endOf({ after, rows: looks }, (to) => goesOnAt(nextOf(to)));
    const isAbout = createIsAbout(recipient);
    for (const { id, at, receipt } of list.all(after, end ?? Number.MAX_SAFE_INTEGER, Math.ceil(looks))) {
      // For one account only receipts older than the erasure: later ones may be about other accounts' messages.
      const isMeant = accountId === undefined || at <= createdAt;
      if (isMeant && isAbout(receipt)) remove.run(id);
    }
    return present({ next: nextOf(end) });
  };
}
