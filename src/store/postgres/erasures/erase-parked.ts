import { createIsAbout, type ErasureTask, type Stretch } from "../../erasures/erasure-work.ts";
import { addressJson } from "../../messages/message-page.ts";
import type { Session } from "../database/driver.ts";
import type { Walk } from "./erasures.ts";

const JOBS = "jobs";
const RECEIPTS = "receipts";

/**
 * Parked receipts belong to no account. Those about the recipient are deleted, unless the erasure is in one account and
 * another has a message to the recipient under way: then they may be about that one, and are left to pruning.
 */
export const eraseParked: Walk = (session, task, { position, looks }) => {
  const [stage = "", at = ""] = position.split(" ");
  const step = task.accountId === undefined || stage === RECEIPTS ? sweepReceipts : searchJobs;
  return step(session, task, { after: Number(at), looks });
};

type Step = (
  session: Session,
  task: ErasureTask,
  from: { readonly after: number; readonly looks: number },
) => Promise<Stretch>;

/** Searches for such a message: only one that was attempted and is not over can have an id that is not recorded yet. */
const searchJobs: Step = async (session, { recipient, accountId = "" }, { after, looks }) => {
  const [end] = await session.query<{ id: number }>(
    "SELECT id FROM jobs WHERE id > $1 ORDER BY id OFFSET $2 LIMIT 1",
    [after, looks],
  );
  const upTo = end?.id ?? Number.MAX_SAFE_INTEGER;
  const values = [after, upTo, accountId, recipient, addressJson(recipient)];
  if ((await session.query(OTHERS, values)).length > 0) return {};
  return { next: end === undefined ? `${RECEIPTS} 0` : `${JOBS} ${end.id}` };
};

const OTHERS = `SELECT 1 FROM jobs j JOIN messages m ON m.id = j.message_id
  WHERE j.id > $1 AND j.id <= $2 AND j.claim > 0
    AND m.account <> (SELECT number FROM accounts WHERE accounts.id = $3)
    AND (m.recipient = $4 OR strpos(lower(m.parts COLLATE "C"), $5) > 0) LIMIT 1`;

const sweepReceipts: Step = async (session, { recipient, accountId, createdAt }, { after, looks }) => {
  const rows = await session.query<{ id: number; at: number; receipt: string }>(
    "SELECT id, at, receipt FROM parked_receipts WHERE id > $1 ORDER BY id LIMIT $2",
    [after, looks],
  );
  const isAbout = createIsAbout(recipient);
  // For one account only receipts older than the erasure: later ones may be about other accounts' messages.
  const meant = rows.filter(
    ({ at, receipt }) => (accountId === undefined || at <= createdAt) && isAbout(receipt),
  );
  await session.query("DELETE FROM parked_receipts WHERE id = ANY(ARRAY(SELECT unnest($1::bigint[])))", [
    meant.map(({ id }) => id),
  ]);
  return rows.length < looks ? {} : { next: `${RECEIPTS} ${rows.at(-1)?.id}` };
};
