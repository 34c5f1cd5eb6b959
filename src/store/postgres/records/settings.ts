import type { StoredSettings } from "../../../core/records/settings.ts";
import { fromSettingRows, type SettingRow, toStoredSetting } from "../../records/stored-settings.ts";
import type { Vault } from "../../vault.ts";
import type { Session } from "../database/driver.ts";

/** Settings of the instance (`accountId` undefined) and of accounts. */
export interface SettingRows {
  of(session: Session, accountId: string | undefined): Promise<StoredSettings>;
  set(session: Session, setting: NewSetting): Promise<void>;
}

export interface NewSetting {
  readonly accountId: string | undefined;
  readonly name: string;
  /** `undefined` removes the setting. */
  readonly value: string | undefined;
}

export function createSettings(vault: Vault): SettingRows {
  return {
    async of(session, accountId) {
      const rows = await session.query<SettingRow>(
        "SELECT name, value FROM settings WHERE account_id IS NOT DISTINCT FROM $1 ORDER BY name",
        [accountId ?? null],
      );
      return fromSettingRows(vault, rows);
    },
    async set(session, { accountId = null, name, value }) {
      if (value === undefined) {
        const sql = "DELETE FROM settings WHERE account_id IS NOT DISTINCT FROM $1 AND name = $2";
        return void (await session.query(sql, [accountId, name]));
      }
      await session.query(
        `INSERT INTO settings (account_id, name, value) VALUES ($1, $2, $3)
         ON CONFLICT (account_id, name) DO UPDATE SET value = excluded.value`,
        [accountId, name, toStoredSetting(vault, name, value)],
      );
    },
  };
}
