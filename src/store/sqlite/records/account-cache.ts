import type { Account, AccountMode } from "../../../core/records/accounts.ts";
import type { StoredSettings } from "../../../core/records/settings.ts";
import type { Database } from "../database/database.ts";

/** A cache of accounts with their settings, for the hot paths. */
export interface AccountCache {
  byId(id: string): AccountEntry | undefined;
  byNumber(number: number): AccountEntry | undefined;
  /** Within a transaction: marks the account as having messages, after which it cannot be removed. False if it is gone. */
  markUsed(entry: AccountEntry): boolean;
  /** Empties the cache. Call it within a transaction that changes accounts or settings. */
  forget(): void;
}

export interface AccountEntry {
  readonly number: number;
  readonly account: Account;
  /** The account's settings over the instance's. */
  readonly settings: StoredSettings;
}

/** When the cache is full it is emptied. */
const MAX_ENTRIES = 10_000;

export function createAccountCache(db: Database): AccountCache {
  const byId = new Map<string, AccountEntry>();
  const byNumber = new Map<number, AccountEntry>();
  const used = new Set<number>();
  const columns = "number, id, name, mode, created_at";
  const findById = db.prepare<AccountRow>(`SELECT ${columns} FROM accounts WHERE id = ?`);
  const findByNumber = db.prepare<AccountRow>(`SELECT ${columns} FROM accounts WHERE number = ?`);
  // The instance's first, since of two with one name the later one counts.
  const settingsOf = db.prepare<{ name: string; value: string }>(
    `SELECT name, value FROM settings WHERE account_id IS NULL
     UNION ALL SELECT name, value FROM settings WHERE account_id = ?`,
  );
  const mark = db.prepare("UPDATE accounts SET has_messages = 1 WHERE number = ? AND has_messages = 0");

  const forget = () => {
    byId.clear();
    byNumber.clear();
    used.clear();
  };
  db.onRollback(forget);

  const keep = (row: AccountRow | undefined): AccountEntry | undefined => {
    if (!row) return undefined;
    if (byId.size >= MAX_ENTRIES) forget();
    const settings = Object.fromEntries(settingsOf.all(row.id).map(({ name, value }) => [name, value]));
    const entry = { number: row.number, account: toAccount(row), settings };
    byId.set(row.id, entry);
    byNumber.set(row.number, entry);
    return entry;
  };

  return {
    byId: (id) => byId.get(id) ?? keep(findById.get(id)),
    byNumber: (number) => byNumber.get(number) ?? keep(findByNumber.get(number)),
    markUsed({ number }) {
      if (used.has(number)) return true;
      // The cache of another thread may still hold an account that has just been deleted.
      if (mark.run(number) === 0 && !findByNumber.get(number)) return false;
      used.add(number);
      return true;
    },
    forget,
  };
}

interface AccountRow {
  readonly number: number;
  readonly id: string;
  readonly name: string;
  readonly mode: AccountMode;
  readonly created_at: number;
}

function toAccount(row: AccountRow): Account {
  return { id: row.id, name: row.name, mode: row.mode, createdAt: row.created_at };
}
