import { createWordScrubber } from "../../../core/messages/erasure.ts";
import { present } from "../../../core/present.ts";
import { BEHIND_ALL, type SuppressionRow, toErasedSuppression } from "../../erasures/erasure-work.ts";
import { addSuppressions } from "../suppressions/suppression-rows.ts";
import type { ErasedNames } from "./erased-names.ts";
import type { Walk } from "./erasures.ts";
import { accountStretch, endOfStretch, OF_STRETCH } from "./stretch-end.ts";

/** Erases the recipient from suppressions and opt-outs, which stay in force. */
export function createSuppressionErasures(erasedNames: ErasedNames): readonly Walk[] {
  return [createSuppressionErasure(erasedNames), createOptOutErasure(erasedNames)];
}

/** An account has at most one suppression of the recipient. */
function createSuppressionErasure(erasedNames: ErasedNames): Walk {
  return async (session, task, stretch) => {
    await erasedNames.lockLists(session);
    const { from, to, ...rest } = await accountStretch(session, task, stretch);
    const values = [task.recipient.toLowerCase(), task.accountId ?? null, from, to];
    const rows = await session.query<SuppressionRow>(TAKE_SUPPRESSIONS, values);
    if (rows.length === 0) return rest;
    const toErased = await erasedNames.needForm(session);
    // If an import has brought the erased form already, the entry that lasts longer stays.
    const erased = rows.map((row) => toErasedSuppression(row, task, toErased));
    await addSuppressions(session, erased, undefined);
    return rest;
  };
}

const TAKE_SUPPRESSIONS = `DELETE FROM suppressions s USING accounts a
  WHERE s.account_id = a.id AND s.email = $1 AND ${OF_STRETCH}
  RETURNING s.id, s.account_id, s.reason, s.source, s.expires_at, s.created_at`;

/** Scans the table in stretches: no index finds opt-outs by number alone. */
function createOptOutErasure(erasedNames: ErasedNames): Walk {
  return async (session, { recipient, accountId }, { position, looks, goesOnAt }) => {
    await erasedNames.lockLists(session);
    const through = { table: "opt_outs", type: "text" } as const;
    const next = await endOfStretch(session, through, { after: position, rows: looks });
    goesOnAt(next);
    const values = [position, next ?? BEHIND_ALL, recipient, accountId ?? null];
    const rows = await session.query<{ id: string; reason: string }>(FIND_OPT_OUTS, values);
    if (rows.length > 0) {
      const erased = (await erasedNames.needForm(session))(recipient);
      const scrub = createWordScrubber(recipient);
      const ids = rows.map(({ id }) => id);
      await session.query(DROP_TWINS, [ids, erased]);
      await session.query(RENAME, [ids, rows.map(({ reason }) => scrub(reason)), erased]);
    }
    return present({ next });
  };
}

const FIND_OPT_OUTS = `SELECT id, reason FROM opt_outs
  WHERE id > $1 AND id <= $2 AND recipient = $3 AND ($4::text IS NULL OR account_id = $4)
  ORDER BY id FOR UPDATE`;

const twin = (sender: string) => `EXISTS (SELECT 1 FROM opt_outs twin
  WHERE twin.account_id = o.account_id AND twin.sender ${sender} AND twin.recipient = $2 OFFSET 0)`;

/** Deletes those of which the erased form is there already. */
const DROP_TWINS = `DELETE FROM opt_outs o
  WHERE o.id = ANY($1) AND (${twin("= o.sender")} OR o.sender IS NULL AND ${twin("IS NULL")})`;

const RENAME = `UPDATE opt_outs o SET recipient = $3, reason = t.reason
  FROM unnest($1::text[], $2::text[]) AS t (id, reason) WHERE o.id = ANY(ARRAY[t.id])`;
