import { asAsked, type FoundSuppression, suppressionNames } from "../../suppressions/suppression-names.ts";
import type { SuppressionStore } from "../../suppressions/suppressions.ts";
import type { Database } from "../database/database.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import type { OptOuts } from "./opt-outs.ts";
import type { SuppressionList } from "./suppression-list.ts";

export interface SuppressionParts {
  readonly suppressions: SuppressionList;
  readonly optOuts: OptOuts;
  readonly erasedNames: ErasedNames;
}

/** `Store.suppressions`. */
export function createSuppressions(
  db: Database,
  { suppressions: list, optOuts, erasedNames }: SuppressionParts,
): SuppressionStore {
  const find = createFind(db, erasedNames);
  const findAccount = db.prepare("SELECT 1 FROM accounts WHERE id = ?");
  const areThere = (accountIds: readonly string[]) =>
    [...new Set(accountIds)].every((id) => findAccount.get(id) !== undefined);
  return {
    find: (accountId, emails, now) =>
      db.read(() => (emails.length === 0 ? [] : find({ accountId, emails, now }))),
    add: (suppressions) =>
      db.write(
        () => (areThere(suppressions.map(({ accountId }) => accountId)) ? list.add(suppressions) : undefined),
        suppressions.length,
      ),
    findOptedOut: (query) => db.read(() => optOuts.among(query)),
  };
}

interface Asked {
  readonly accountId: string;
  readonly emails: readonly string[];
  readonly now: number;
}

function createFind(db: Database, erasedNames: ErasedNames): (asked: Asked) => readonly FoundSuppression[] {
  const select = db.prepare<FoundSuppression>(
    `SELECT email, reason FROM suppressions
     WHERE account_id = ? AND email IN (SELECT value FROM json_each(?)) AND (expires_at IS NULL OR expires_at > ?)`,
  );
  return ({ accountId, emails, now }) => {
    const names = suppressionNames(emails, erasedNames.form());
    return asAsked(select.all(accountId, JSON.stringify([...names.keys()]), now), names);
  };
}
