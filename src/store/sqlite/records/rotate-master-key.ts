import { RECORD_TABLES, type RecordTable } from "../../records/record-tables.ts";
import { createRecordValues } from "../../records/record-values.ts";
import type { Vault } from "../../vault.ts";
import { createDatabase, type Database } from "../database/database.ts";
import { type Driver, openDriver, type SqlValue } from "../database/driver.ts";
import { raiseOpenings } from "../database/meta.ts";
import { sealPepper } from "../erasures/erased-names.ts";
import { migrate } from "../migrate.ts";
import { configure } from "../open-sqlite.ts";
import { addEarlierKey } from "./earlier-keys.ts";
import { createSettings } from "./settings.ts";
import { createWebhookSecrets } from "./webhook-secrets.ts";

export interface Rotation {
  /** Path of a database that nobody else has open. */
  readonly path: string;
  /** The vaults of the present master key (`from`) and of the new one (`to`). */
  readonly from: Vault;
  readonly to: Vault;
  /** Put first in `Store.earlierKeys`; absent: they are all dropped. */
  readonly earlierKey?: string;
  /** For tests: called when everything is sealed again and nothing is on disk yet. */
  readonly beforeCommit?: () => void;
}

/**
 * Seals every secret of a database under another master key, in one transaction: either all or none of them. What was
 * sealed under the old key is overwritten in the file.
 */
export async function rotateMasterKey(rotation: Rotation): Promise<void> {
  const driver = openDriver(rotation.path);
  const { beforeCommit } = rotation;
  try {
    configure(driver);
    driver.exec("PRAGMA secure_delete = ON");
    migrate(driver);
    const db = createDatabase({ driver, schedule: setImmediate, ...(beforeCommit && { beforeCommit }) });
    await db.write(() => resealAll(db, rotation));
    driver.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    driver.close();
  }
}

function resealAll(db: Database, { from, to, earlierKey }: Rotation): void {
  for (const table of Object.values(RECORD_TABLES)) sealRecords(db, table, { from, to });
  const accounts = db.prepare<{ id: string }>("SELECT id FROM accounts").all();
  for (const { id } of accounts) sealWebhookSecrets(db, id, { from, to });
  for (const id of [undefined, ...accounts.map((account) => account.id)]) sealSettings(db, id, { from, to });
  addEarlierKey(db, earlierKey, { from, to });
  sealPepper(db, { from, to });
  db.prepare("UPDATE meta SET value = ? WHERE name = 'master_key_check'").run(to.checkValue);
  // What a move that was cut off has copied is sealed under the old key: it must not go on.
  raiseOpenings(db);
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
