import type { StoredSettings } from "../../../core/records/settings.ts";
import type { Session } from "../database/driver.ts";

/** The settings of these accounts (by id), which override the instance's; read in one statement. */
export async function readSettings(
  session: Session,
  accountIds: Iterable<string>,
): Promise<(accountId: string) => StoredSettings> {
  const ids = [...new Set(accountIds)];
  const rows = ids.length === 0 ? [] : await session.query<SettingRow>(SETTINGS, [ids]);
  const ofInstance = toSettings(rows, null);
  return (accountId) => ({ ...ofInstance, ...toSettings(rows, accountId) });
}

/** In two parts, so that each uses the index. */
const SETTINGS = `SELECT account_id, name, value FROM settings WHERE account_id IS NULL
  UNION ALL SELECT account_id, name, value FROM settings WHERE account_id = ANY($1)`;

interface SettingRow {
  readonly account_id: string | null;
  readonly name: string;
  readonly value: string;
}

function toSettings(rows: readonly SettingRow[], owner: string | null): StoredSettings {
  return Object.fromEntries(
    rows.flatMap(({ account_id: of, name, value }) => (of === owner ? [[name, value]] : [])),
  );
}
