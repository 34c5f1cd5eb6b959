import { asAsked, type FoundSuppression, suppressionNames } from "../../suppressions/suppression-names.ts";
import type { SuppressionStore } from "../../suppressions/suppressions.ts";
import type { Session } from "../database/driver.ts";
import type { Database } from "../database/transactions.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import { findOptedOut } from "./opt-outs.ts";
import { addSuppressions } from "./suppression-rows.ts";

/** `Store.suppressions`. */
export function createSuppressions(db: Database, erasedNames: ErasedNames): SuppressionStore {
  return {
    async find(accountId, emails, now) {
      if (emails.length === 0) return [];
      const names = suppressionNames(emails, await erasedNames.form(db));
      return asAsked(await db.query<FoundSuppression>(FIND, [accountId, [...names.keys()], now]), names);
    },
    add: (suppressions) =>
      db.transaction(async (session) => {
        if (!(await areThere(session, new Set(suppressions.map(({ accountId }) => accountId)))))
          return undefined;
        return addSuppressions(session, suppressions, await erasedNames.formToList(session));
      }),
    async findOptedOut({ accountId, sender, to }) {
      const targets = to.map((recipient) => ({ accountId, sender, recipient }));
      const indexes = await findOptedOut(db, erasedNames, targets);
      return to.filter((_, index) => indexes.has(index));
    },
  };
}

const FIND = `SELECT email, reason FROM suppressions
  WHERE account_id = $1 AND email = ANY($2) AND (expires_at IS NULL OR expires_at > $3)`;

/** Whether all of these accounts exist; if so, they stay until the transaction ends. */
async function areThere(session: Session, accountIds: ReadonlySet<string>): Promise<boolean> {
  return (await session.query(THERE, [[...accountIds]])).length === accountIds.size;
}

const THERE = "SELECT 1 FROM accounts WHERE id = ANY($1) ORDER BY id FOR KEY SHARE";
