import type { Database } from "./database.ts";

/** Settings of the instance (`accountId` undefined) and of accounts; `set` inside a transaction. */
export interface SettingRows {
  of(accountId: string | undefined): Readonly<Record<string, string>>;
  set(accountId: string | undefined, name: string, value: string | undefined): void;
}

export function createSettings(db: Database): SettingRows {
  const select = db.prepare<{ name: string; value: string }>(
    "SELECT name, value FROM settings WHERE account_id IS ? ORDER BY name",
  );
  const remove = db.prepare("DELETE FROM settings WHERE account_id IS ? AND name = ?");
  const insert = db.prepare("INSERT INTO settings (account_id, name, value) VALUES (?, ?, ?)");
  return {
    of: (accountId) =>
      Object.fromEntries(select.all(accountId ?? null).map(({ name, value }) => [name, value])),
    set(accountId, name, value) {
      remove.run(accountId ?? null, name);
      if (value !== undefined) insert.run(accountId ?? null, name, value);
    },
  };
}
