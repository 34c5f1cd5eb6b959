import type { Suppression } from "../../core/accounts.ts";
import type { SuppressionStore } from "../suppressions.ts";
import type { ErasedNames } from "./erased-names.ts";
import { addSuppressions } from "./suppression-rows.ts";
import type { Database } from "./transactions.ts";

/** `Store.suppressions`. */
export function createSuppressions(db: Database, erasedNames: ErasedNames): SuppressionStore {
  return {
    async find(accountId, emails, now) {
      if (emails.length === 0) return [];
      const toErased = await erasedNames.form(db);
      const erased = toErased ? emails.map((email) => [toErased(email), email] as const) : [];
      const asWritten = new Map([...emails.map((email) => [email, email] as const), ...erased]);
      const found = await db.query<Found>(FIND, [accountId, [...asWritten.keys()], now]);
      const reasons = new Map(found.map(({ email, reason }) => [asWritten.get(email) ?? email, reason]));
      return [...reasons].map(([email, reason]) => ({ email, reason }));
    },
    add: (suppressions) =>
      db.transaction(async (session) =>
        addSuppressions(session, suppressions, await erasedNames.form(session)),
      ),
  };
}

type Found = Pick<Suppression, "email" | "reason">;

const FIND = `SELECT email, reason FROM suppressions
  WHERE account_id = $1 AND email = ANY($2) AND (expires_at IS NULL OR expires_at > $3)`;
