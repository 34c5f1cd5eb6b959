import { OPENINGS, SEALED_NAMES } from "../../meta.ts";
import type { RecordTable } from "../../records/record-tables.ts";
import {
  resealed,
  resealedFact,
  SEALED_TABLES,
  type VaultRotation,
  type Vaults,
} from "../../records/rotation.ts";
import { createDatabase, type Database } from "../database/database.ts";
import { openDriver, type SqlValue } from "../database/driver.ts";
import { raiseMeta, readMeta, removeMeta, writeMeta } from "../database/meta.ts";
import { type MigrationOptions, migrateOlder } from "../migrate-older.ts";
import { configure } from "../open-sqlite.ts";
import { createSettings } from "./settings.ts";
import { createWebhookSecrets } from "./webhook-secrets.ts";

export interface Rotation extends VaultRotation, MigrationOptions {
  /** Path of a database that nobody else has open. */
  readonly path: string;
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
    await migrateOlder(driver, rotation);
    const db = createDatabase({ driver, schedule: setImmediate, ...(beforeCommit && { beforeCommit }) });
    await db.write(() => resealAll(db, rotation));
    driver.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    driver.close();
  }
}

function resealAll(db: Database, vaults: VaultRotation): void {
  for (const table of SEALED_TABLES) sealRecords(db, table, vaults);
  const accounts = db.prepare<{ id: string }>("SELECT id FROM accounts").all();
  for (const { id } of accounts) sealWebhookSecrets(db, id, vaults);
  for (const id of [undefined, ...accounts.map((account) => account.id)]) sealSettings(db, id, vaults);
  sealMeta(db, vaults);
  writeMeta(db, "master_key_check", vaults.to.checkValue);
  // What a move to PostgreSQL has copied before it was cut off is sealed under the old key: such a move must not go on.
  raiseMeta(db, OPENINGS);
}

function sealRecords(db: Database, table: RecordTable, vaults: Vaults): void {
  for (const row of db.prepare<Record<string, SqlValue>>(`SELECT * FROM ${table.table}`).all()) {
    for (const [column, value] of resealed(table, row, vaults))
      db.prepare(`UPDATE ${table.table} SET ${column} = ? WHERE id = ?`).run(value, String(row.id));
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

function sealMeta(db: Database, rotation: VaultRotation): void {
  for (const name of SEALED_NAMES) {
    const value = resealedFact(name, readMeta(db, name), rotation);
    if (value === undefined) removeMeta(db, name);
    else writeMeta(db, name, value);
  }
}
