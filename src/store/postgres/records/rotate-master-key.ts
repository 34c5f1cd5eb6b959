import { SEALED_NAMES } from "../../meta.ts";
import type { OnMigration } from "../../on-migration.ts";
import type { RecordTable } from "../../records/record-tables.ts";
import {
  resealed,
  resealedFact,
  SEALED_TABLES,
  type VaultRotation,
  type Vaults,
} from "../../records/rotation.ts";
import type { Vault } from "../../vault.ts";
import { type Connection, openDriver, type Session } from "../database/driver.ts";
import { readMeta, refuseHalfMoved, removeMeta, writeMeta } from "../database/meta.ts";
import { hasSchema, isMigrated, migrateAt, migrationsOf } from "../migrate.ts";
import { MIGRATIONS } from "../migrations.ts";
import { createSettings } from "./settings.ts";
import { createWebhookSecrets } from "./webhook-secrets.ts";

export interface Rotation extends VaultRotation {
  readonly url: string;
  readonly onMigration?: OnMigration | undefined;
}

/**
 * Seals every secret of a database under another master key, in one transaction: either all or none of them. Migrates a database
 * of an older version first. Throws, and changes no secret, while other processes are connected, or if the schema is of a newer
 * version. A process that connects unnoticed writes nothing sealed afterwards, and ends: see `underKey`, `watchKey`.
 */
export async function rotateMasterKey(rotation: Rotation): Promise<void> {
  await migrateUnused(rotation);
  const driver = openDriver({ url: rotation.url, connections: 1, statementMs: STATEMENT_MS });
  try {
    await driver.hold(async (connection) => {
      await connection.exec("BEGIN");
      // After an error nothing is committed: the connection is closed with the driver.
      await resealAll(connection, rotation);
      rotation.beforeCommit?.();
      await connection.exec("COMMIT");
    });
  } finally {
    await driver.close();
  }
}

/** Migrates while no other process is connected: those of the older version may not be able to work with the new schema. */
async function migrateUnused({ url, from, onMigration }: Rotation): Promise<void> {
  const driver = openDriver({ url, connections: 1 });
  try {
    if (await isMigrated(driver)) return;
    // Asks before the migration too, since others would have to wait for that.
    await refuseOthers(driver);
  } finally {
    await driver.close();
  }
  await migrateAt(url, { onMigration, refuse: (session) => holdAlone(session, from) });
}

async function resealAll(session: Connection, vaults: VaultRotation): Promise<void> {
  await holdAlone(session, vaults.from);
  await refuseNewer(session);
  for (const table of SEALED_TABLES) await sealRecords(session, table, vaults);
  const accounts = await session.query<{ id: string }>("SELECT id FROM accounts");
  for (const { id } of accounts) await sealWebhookSecrets(session, id, vaults);
  for (const id of [undefined, ...accounts.map((account) => account.id)])
    await sealSettings(session, id, vaults);
  await sealMeta(session, vaults);
  await writeMeta(session, "master_key_check", vaults.to.checkValue);
}

/** Keeps the master key as it is until the transaction ends. Throws if it is not this one, or while others are connected. */
async function holdAlone(session: Session, { checkValue }: Vault): Promise<void> {
  const held = await session.query(
    "SELECT 1 FROM meta WHERE name = 'master_key_check' AND value = $1 FOR UPDATE",
    [checkValue],
  );
  if (held.length === 0)
    throw new Error("another process has changed the master key of the database meanwhile");
  await refuseOthers(session);
}

async function refuseOthers(session: Session): Promise<void> {
  let others = await session.query<{ host: string | null }>(OTHERS);
  // PostgreSQL takes a moment to notice that a process has ended.
  for (let looked = 1; others.length > 0 && looked < LOOKS; looked++) {
    await session.query("SELECT pg_sleep(0.2), pg_stat_clear_snapshot()");
    others = await session.query<{ host: string | null }>(OTHERS);
  }
  if (others.length === 0) return;
  const places = [...new Set(others.map(({ host }) => host ?? "this machine"))].join(", ");
  throw new Error(
    `other processes are using the database, from ${places}: stop all of them first, and let a pooler close its connections (PgBouncer: RECONNECT)`,
  );
}

const LOOKS = 10;

const OTHERS = `SELECT host(client_addr) AS host FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'postrider%'`;

/** A newer schema may have sealed columns that this version does not know. */
async function refuseNewer(session: Session): Promise<void> {
  if ((await migrationsOf(session)).length === MIGRATIONS.length) return;
  throw new Error("the database is of a newer version: rotate its key with that one");
}

async function sealRecords(session: Session, table: RecordTable, vaults: Vaults): Promise<void> {
  for (const row of await session.query<Record<string, unknown>>(`SELECT * FROM ${table.table}`)) {
    for (const [column, value] of resealed(table, row, vaults))
      await session.query(`UPDATE ${table.table} SET ${column} = $1 WHERE id = $2`, [value, String(row.id)]);
  }
}

async function sealWebhookSecrets(session: Session, accountId: string, { from, to }: Vaults): Promise<void> {
  const secrets = await createWebhookSecrets(from).newest(session, accountId);
  await session.query("DELETE FROM webhook_secrets WHERE account_id = $1", [accountId]);
  const fresh = createWebhookSecrets(to);
  for (const { secret, createdAt: now } of secrets.toReversed())
    await fresh.add(session, { accountId, secret, now });
}

async function sealSettings(
  session: Session,
  accountId: string | undefined,
  { from, to }: Vaults,
): Promise<void> {
  const fresh = createSettings(to);
  for (const [name, value] of Object.entries(await createSettings(from).of(session, accountId))) {
    await fresh.set(session, { accountId, name, value });
  }
}

async function sealMeta(session: Session, rotation: VaultRotation): Promise<void> {
  for (const name of SEALED_NAMES) {
    const value = resealedFact(name, await readMeta(session, name), rotation);
    await (value === undefined ? removeMeta(session, name) : writeMeta(session, name, value));
  }
}

/** Long enough to seal the DKIM keys of many domains again. */
const STATEMENT_MS = 600_000;

/**
 * The check value of a database's master key; `undefined` if no service has been started on it. Throws while a move or a
 * restore fills it: what is still to come is sealed under the old key.
 */
export async function readKeyCheckValue(url: string): Promise<string | undefined> {
  const driver = openDriver({ url, connections: 1 });
  try {
    if (!(await hasSchema(driver))) return undefined;
    await refuseHalfMoved(driver);
    return await readMeta(driver, "master_key_check");
  } finally {
    await driver.close();
  }
}
