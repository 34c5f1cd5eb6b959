import { present } from "../../../core/present.ts";
import { createIsAbout, type ErasureTask, type Stretch } from "../../erasures/erasure-work.ts";
import { addressJson } from "../../messages/message-page.ts";
import type { Session } from "../database/driver.ts";
import type { From, Walk } from "./erasures.ts";
import { endOfStretch } from "./stretch-end.ts";

const JOBS = "jobs";
const RECEIPTS = "receipts";

/**
 * Parked receipts belong to no account. Those about the recipient are deleted, unless the erasure is in one account and
 * another has a message to the recipient under way: then they may be about that one, and are left to pruning.
 */
export const eraseParked: Walk = (session, task, from) => {
  const [stage = "", at = ""] = from.position.split(" ");
  const step = task.accountId === undefined || stage === RECEIPTS ? sweepReceipts : searchJobs;
  return step(session, task, { ...from, after: Number(at) });
};

type Step = (
  session: Session,
  task: ErasureTask,
  from: From & { readonly after: number },
) => Promise<Stretch>;

/**
 * Searches for such a message: only one that was attempted and is not over can have an id that is not recorded yet. Passes over none that it
 * cannot look at, since that may be the one.
 */
const searchJobs: Step = async (session, { recipient, accountId = "" }, { after, looks }) => {
  const end = await endOfStretch(session, { table: "jobs", type: "bigint" }, { after, rows: looks });
  const upTo = end ?? Number.MAX_SAFE_INTEGER;
  const values = [after, upTo, accountId, recipient, addressJson(recipient)];
  if ((await session.query(OTHERS, values)).length > 0) return {};
  return { next: end === undefined ? `${RECEIPTS} 0` : `${JOBS} ${end}` };
};

const OTHERS = `SELECT 1 FROM jobs j JOIN messages m ON m.id = j.message_id
  WHERE j.id > $1 AND j.id <= $2 AND j.claim > 0
    AND m.account <> (SELECT number FROM accounts WHERE accounts.id = $3)
    AND (m.recipient = $4 OR strpos(lower(m.parts COLLATE "C"), $5) > 0) LIMIT 1`;

const sweepReceipts: Step = async (session, task, { after, looks, goesOnAt }) => {
  const { recipient, accountId, createdAt } = task;
  const through = { table: "parked_receipts", type: "bigint" } as const;
  const end = await endOfStretch(session, through, { after, rows: looks });
  const next = end === undefined ? undefined : `${RECEIPTS} ${end}`;
  goesOnAt(next);
  const rows = await session.query<{ id: number; at: number; receipt: string }>(
    "SELECT id, at, receipt FROM parked_receipts WHERE id > $1 AND id <= $2 ORDER BY id",
    [after, end ?? Number.MAX_SAFE_INTEGER],
  );
  const isAbout = createIsAbout(recipient);
  // For one account only receipts older than the erasure: later ones may be about other accounts' messages.
  const meant = rows.filter(
    ({ at, receipt }) => (accountId === undefined || at <= createdAt) && isAbout(receipt),
  );
  await session.query("DELETE FROM parked_receipts WHERE id = ANY(ARRAY(SELECT unnest($1::bigint[])))", [
    meant.map(({ id }) => id),
  ]);
  return present({ next });
};
