import { createWordScrubber } from "../../../core/messages/erasure.ts";
import { present } from "../../../core/present.ts";
import {
  BEHIND_ALL,
  type ErasureTask,
  type SuppressionRow,
  toErasedSuppression,
} from "../../erasures/erasure-work.ts";
import type { Database } from "../database/database.ts";
import type { AccountCache } from "../records/account-cache.ts";
import type { SuppressionList } from "../suppressions/suppression-list.ts";
import { UUIDS } from "../unreadable-rows.ts";
import { createAccountStretches, OF_STRETCH } from "./account-stretches.ts";
import type { ErasedNames } from "./erased-names.ts";
import type { Walk } from "./erasures.ts";
import { createStretchEnd } from "./stretch-end.ts";

export interface EraseSuppressionParts {
  readonly accounts: AccountCache;
  readonly suppressions: SuppressionList;
  readonly erasedNames: ErasedNames;
}

/** Erases the recipient from suppressions and opt-outs, which stay in force. */
export function createSuppressionErasures(db: Database, parts: EraseSuppressionParts): readonly Walk[] {
  return [createSuppressionErasure(db, parts), createOptOutErasure(db, parts)];
}

/** An account has at most one suppression of the recipient. */
function createSuppressionErasure(db: Database, parts: EraseSuppressionParts): Walk {
  const { accounts, suppressions, erasedNames } = parts;
  const stretchOf = createAccountStretches(db, accounts);
  const find = db.prepare<SuppressionRow>(
    `SELECT id, account_id, reason, source, expires_at, created_at FROM suppressions
     WHERE email = ?1 AND account_id IN (SELECT id FROM accounts WHERE ${OF_STRETCH})`,
  );
  const remove = db.prepare("DELETE FROM suppressions WHERE id = ?");
  return (task, stretch) => {
    const { from, to, ...rest } = stretchOf(task, stretch);
    for (const row of find.all(task.recipient.toLowerCase(), from, to)) {
      remove.run(row.id);
      // If an import has brought the erased form already, the entry that lasts longer stays.
      suppressions.add([toErasedSuppression(row, task, erasedNames.needForm())]);
    }
    return rest;
  };
}

interface OptOutRow {
  readonly id: string;
  readonly reason: string;
}

/** Scans the table in stretches: no index finds opt-outs by number alone. */
function createOptOutErasure(db: Database, { erasedNames }: EraseSuppressionParts): Walk {
  const endOf = createStretchEnd<string>(db, { table: "opt_outs", key: "id", keys: UUIDS });
  const find = db.prepare<OptOutRow>(
    `SELECT id, reason FROM opt_outs
     WHERE id > ?1 AND id <= ?2 AND recipient = ?3 AND (?4 IS NULL OR account_id = ?4)`,
  );
  const update = db.prepare("UPDATE OR IGNORE opt_outs SET recipient = ?, reason = ? WHERE id = ?");
  const remove = db.prepare("DELETE FROM opt_outs WHERE id = ?");
  return ({ recipient, accountId }: ErasureTask, { position, looks, goesOnAt }) => {
    const next = endOf({ after: position, rows: looks }, goesOnAt);
    const scrub = createWordScrubber(recipient);
    for (const { id, reason } of find.all(position, next ?? BEHIND_ALL, recipient, accountId ?? null)) {
      // If nothing was updated, the same opt-out is there already in its erased form.
      if (update.run(erasedNames.needForm()(recipient), scrub(reason), id) === 0) remove.run(id);
    }
    return present({ next });
  };
}
