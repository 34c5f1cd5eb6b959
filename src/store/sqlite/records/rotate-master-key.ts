import { RECORD_TABLES, type RecordTable } from "../../records/record-tables.ts";
import { createRecordValues } from "../../records/record-values.ts";
import type { Vault } from "../../vault.ts";
import { createDatabase, type Database } from "../database/database.ts";
import { type Driver, openDriver, type SqlValue } from "../database/driver.ts";
import { sealPepper } from "../erasures/erased-names.ts";
import { migrate } from "../migrate.ts";
import { configure } from "../open-sqlite.ts";
import { addEarlierKey } from "./earlier-keys.ts";
import { createSettings } from "./settings.ts";
import { createWebhookSecrets } from "./webhook-secrets.ts";

export interface Rotation {
  /** Of a database that nobody else has open. */
  readonly path: string;
  /** Under the key it has, and under the key it gets. */
  readonly from: Vault;
  readonly to: Vault;
  /** What `Store.earlierKeys` is to answer first from now on; absent: it forgets all. */
  readonly earlierKey?: string;
  /** For tests: everything is sealed anew, and nothing is on disk. */
  readonly beforeCommit?: () => void;
}

/**
 * Seals every secret of a database under another master key, in one transaction: it is bound to the one key or
 * to the other. What was sealed under the old one is overwritten in the file.
 */
export async function rotateMasterKey(rotation: Rotation): Promise<void> {
  const driver = openDriver(rotation.path);
  const { beforeCommit } = rotation;
  try {
    configure(driver);
    driver.exec("PRAGMA secure_delete = ON");
    migrate(driver);
    const db = createDatabase({ driver, schedule: setImmediate, ...(beforeCommit && { beforeCommit }) });
    await db.write(() => sealAnew(db, rotation));
    driver.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    driver.close();
  }
}

function sealAnew(db: Database, { from, to, earlierKey }: Rotation): void {
  for (const table of Object.values(RECORD_TABLES)) sealRecords(db, table, { from, to });
  const accounts = db.prepare<{ id: string }>("SELECT id FROM accounts").all();
  for (const { id } of accounts) sealWebhookSecrets(db, id, { from, to });
  for (const id of [undefined, ...accounts.map((account) => account.id)]) sealSettings(db, id, { from, to });
  addEarlierKey(db, earlierKey, { from, to });
  sealPepper(db, { from, to });
  db.prepare("UPDATE meta SET value = ? WHERE name = 'master_key_check'").run(to.checkValue);
}

interface Vaults {
  readonly from: Vault;
  readonly to: Vault;
}

function sealRecords(db: Pick<Driver, "prepare">, table: RecordTable, { from, to }: Vaults): void {
  const sealed = Object.entries(table.columns).filter(([, column]) => column.type === "sealed");
  if (sealed.length === 0) return;
  const [old, fresh] = [createRecordValues(from), createRecordValues(to)];
  for (const row of db.prepare<Record<string, SqlValue>>(`SELECT * FROM ${table.table}`).all()) {
    const id = String(row.id);
    const fields = old.toRecord(table, row);
    for (const [field, column] of sealed) {
      const value = fresh.toSql({ table, column, id }, fields[field]);
      db.prepare(`UPDATE ${table.table} SET ${column.name} = ? WHERE id = ?`).run(value, id);
    }
  }
}

function sealWebhookSecrets(db: Database, accountId: string, { from, to }: Vaults): void {
  const secrets = createWebhookSecrets(db, from).newest(accountId);
  db.prepare("DELETE FROM webhook_secrets WHERE account_id = ?").run(accountId);
  const fresh = createWebhookSecrets(db, to);
  for (const { secret, createdAt } of secrets.toReversed()) fresh.add(accountId, secret, createdAt);
}

function sealSettings(db: Database, accountId: string | undefined, { from, to }: Vaults): void {
  const fresh = createSettings(db, to);
  for (const [name, value] of Object.entries(createSettings(db, from).of(accountId))) {
    fresh.set(accountId, name, value);
  }
}
