import type { StoredSettings } from "../../../core/records/settings.ts";
import { fromSettingRows, type SettingRow, toStoredSetting } from "../../records/stored-settings.ts";
import type { Vault } from "../../vault.ts";
import type { Database } from "../database/database.ts";

/** Settings of the instance (`accountId` undefined) and of accounts. `set`: inside a transaction; `undefined` removes the setting. */
export interface SettingRows {
  of(accountId: string | undefined): StoredSettings;
  set(accountId: string | undefined, name: string, value: string | undefined): void;
}

export function createSettings(db: Database, vault: Vault): SettingRows {
  const select = db.prepare<SettingRow>(
    "SELECT name, value FROM settings WHERE account_id IS ? ORDER BY name",
  );
  const remove = db.prepare("DELETE FROM settings WHERE account_id IS ? AND name = ?");
  const insert = db.prepare("INSERT INTO settings (account_id, name, value) VALUES (?, ?, ?)");
  return {
    of: (accountId) => fromSettingRows(vault, select.all(accountId ?? null)),
    set(accountId, name, value) {
      remove.run(accountId ?? null, name);
      if (value === undefined) return;
      insert.run(accountId ?? null, name, toStoredSetting(vault, name, value));
    },
  };
}
