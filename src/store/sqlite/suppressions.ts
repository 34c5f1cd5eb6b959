import type { Suppression } from "../../core/accounts.ts";
import type { SuppressionStore } from "../suppressions.ts";
import type { Database } from "./database.ts";
import type { ErasedNames } from "./erased-names.ts";
import type { SuppressionBook } from "./suppression-book.ts";

export interface SuppressionParts {
  readonly suppressions: SuppressionBook;
  readonly erasedNames: ErasedNames;
}

export function createSuppressions(
  db: Database,
  { suppressions: book, erasedNames }: SuppressionParts,
): SuppressionStore {
  const find = createFind(db, erasedNames);
  return {
    find: (accountId, emails, now) =>
      db.read(() => (emails.length === 0 ? [] : find({ accountId, emails, now }))),
    add: (suppressions) =>
      db.write(() => suppressions.filter((each) => book.add(each)).length, suppressions.length),
  };
}

type Found = Pick<Suppression, "email" | "reason">;

interface Asked {
  readonly accountId: string;
  readonly emails: readonly string[];
  readonly now: number;
}

function createFind(db: Database, erasedNames: ErasedNames): (asked: Asked) => readonly Found[] {
  const select = db.prepare<Found>(
    `SELECT email, reason FROM suppressions
     WHERE account_id = ? AND email IN (SELECT value FROM json_each(?)) AND (expires_at IS NULL OR expires_at > ?)`,
  );
  return ({ accountId, emails, now }) => {
    const toErased = erasedNames.form();
    if (!toErased) return select.all(accountId, JSON.stringify(emails), now);
    const asWritten = new Map(emails.flatMap((email) => [[email, email] as const, [toErased(email), email]]));
    const found = select.all(accountId, JSON.stringify([...asWritten.keys()]), now);
    const reasons = new Map(
      found.map(({ email, reason }) => [asWritten.get(email) ?? email, reason] as const),
    );
    return [...reasons].map(([email, reason]) => ({ email, reason }));
  };
}
