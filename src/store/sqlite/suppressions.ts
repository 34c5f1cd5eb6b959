import type { Suppression } from "../../core/accounts.ts";
import type { SuppressionStore } from "../suppressions.ts";
import type { Database } from "./database.ts";
import type { SuppressionBook } from "./suppression-book.ts";

export function createSuppressions(db: Database, book: SuppressionBook): SuppressionStore {
  const find = db.prepare<Pick<Suppression, "email" | "reason">>(
    `SELECT email, reason FROM suppressions
     WHERE account_id = ? AND email IN (SELECT value FROM json_each(?)) AND (expires_at IS NULL OR expires_at > ?)`,
  );
  return {
    find: (accountId, emails, now) =>
      db.read(() => (emails.length === 0 ? [] : find.all(accountId, JSON.stringify(emails), now))),
    add: (suppressions) =>
      db.write(() => suppressions.filter((each) => book.add(each)).length, suppressions.length),
  };
}
