import { createIsAbout, type ErasureTask, type Stretch } from "../../erasures/erasure-work.ts";
import { addressJson } from "../../messages/message-page.ts";
import type { Database } from "../database/database.ts";
import type { Walk } from "./erasures.ts";

/**
 * Parked receipts belong to no account. Those about the recipient are deleted, unless the erasure is in one account and
 * another has a message to the recipient under way: then they may be about that one, and are left to pruning.
 */
export function createParkedErasure(db: Database): Walk {
  const search = createSearch(db);
  const sweep = createReceiptSweep(db);
  return (task, position, looks) => {
    const [stage = "", at = ""] = position.split(" ");
    if (task.accountId === undefined || stage === RECEIPTS) return sweep(task, Number(at), looks);
    return search(task, Number(at), looks);
  };
}

const JOBS = "jobs";
const RECEIPTS = "receipts";

type Step = (task: ErasureTask, after: number, looks: number) => Stretch;

/** Searches for such a message: only one that was attempted and is not over can have an id that is not recorded yet. */
function createSearch(db: Database): Step {
  const ends = db.prepare<{ id: number }>("SELECT id FROM jobs WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?");
  const others = db.prepare(
    `SELECT 1 FROM jobs j JOIN messages m ON m.id = j.message_id
     WHERE j.id > ?1 AND j.id <= ?2 AND j.claim > 0 AND m.account <> (SELECT number FROM accounts WHERE id = ?3)
       AND (m.recipient = ?4 OR instr(lower(m.parts), ?5) > 0) LIMIT 1`,
  );
  return ({ recipient, accountId = "" }, after, looks) => {
    const end = ends.get(after, looks)?.id;
    if (others.get(after, end ?? Number.MAX_SAFE_INTEGER, accountId, recipient, addressJson(recipient)))
      return {};
    return { next: end === undefined ? `${RECEIPTS} 0` : `${JOBS} ${end}` };
  };
}

function createReceiptSweep(db: Database): Step {
  const list = db.prepare<{ id: number; at: number; receipt: string }>(
    "SELECT id, at, receipt FROM parked_receipts WHERE id > ? ORDER BY id LIMIT ?",
  );
  const remove = db.prepare("DELETE FROM parked_receipts WHERE id = ?");
  return ({ recipient, accountId, createdAt }, after, looks) => {
    const found = list.all(after, looks);
    const isAbout = createIsAbout(recipient);
    for (const { id, at, receipt } of found) {
      // For one account only receipts older than the erasure: later ones may be about other accounts' messages.
      const isMeant = accountId === undefined || at <= createdAt;
      if (isMeant && isAbout(receipt)) remove.run(id);
    }
    return found.length < looks ? {} : { next: `${RECEIPTS} ${found.at(-1)?.id}` };
  };
}
