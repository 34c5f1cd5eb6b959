import { PEPPER } from "../../erasures/erased-recipient.ts";
import { withEarlierKey } from "../../records/earlier-keys.ts";
import { RECORD_TABLES, type RecordTable } from "../../records/record-tables.ts";
import { createRecordValues } from "../../records/record-values.ts";
import type { Vault } from "../../vault.ts";
import { type Connection, openDriver, type Session } from "../database/driver.ts";
import { readMeta, refuseHalfMoved, writeMeta } from "../database/meta.ts";
import { isMigrated, migrateAt, migrationsOf } from "../migrate.ts";
import { MIGRATIONS } from "../migrations.ts";
import { createSettings } from "./settings.ts";
import { createWebhookSecrets } from "./webhook-secrets.ts";

export interface Rotation {
  readonly url: string;
  /** The vaults of the present master key (`from`) and of the new one (`to`). */
  readonly from: Vault;
  readonly to: Vault;
  /** Put first in `Store.earlierKeys`; absent: they are all dropped. */
  readonly earlierKey?: string;
  /** For tests: called when everything is sealed again and nothing is committed yet. */
  readonly beforeCommit?: () => void;
}

/**
 * Seals every secret of a database under another master key, in one transaction: either all or none of them. Throws, with
 * nothing changed, while other processes are connected, or if the schema is of a newer version. A process that connects
 * unnoticed writes nothing sealed afterwards, and ends: see `underKey`, `watchKey`.
 */
export async function rotateMasterKey(rotation: Rotation): Promise<void> {
  const driver = openDriver({ url: rotation.url, connections: 1, statementMs: STATEMENT_MS });
  try {
    await driver.hold(async (connection) => {
      await connection.exec("BEGIN");
      // An error rolls back: the connection is closed.
      await resealAll(connection, rotation);
      rotation.beforeCommit?.();
      await connection.exec("COMMIT");
    });
  } finally {
    await driver.close();
  }
}

async function resealAll(session: Connection, { from, to, earlierKey }: Rotation): Promise<void> {
  const held = await session.query(
    "SELECT 1 FROM meta WHERE name = 'master_key_check' AND value = $1 FOR UPDATE",
    [from.checkValue],
  );
  if (held.length === 0)
    throw new Error("another process has changed the master key of the database meanwhile");
  await refuseOthers(session);
  await refuseNewer(session);
  const vaults = { from, to };
  for (const table of Object.values(RECORD_TABLES)) await sealRecords(session, table, vaults);
  const accounts = await session.query<{ id: string }>("SELECT id FROM accounts");
  for (const { id } of accounts) await sealWebhookSecrets(session, id, vaults);
  for (const id of [undefined, ...accounts.map((account) => account.id)])
    await sealSettings(session, id, vaults);
  await sealMeta(session, vaults, earlierKey);
  await writeMeta(session, "master_key_check", to.checkValue);
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
  throw new Error(`other processes are using the database, from ${places}: stop all of them first`);
}

const LOOKS = 10;

const OTHERS = `SELECT host(client_addr) AS host FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'postrider%'`;

/** A newer schema may have sealed columns that this version does not know. */
async function refuseNewer(session: Session): Promise<void> {
  if ((await migrationsOf(session)).length === MIGRATIONS.length) return;
  throw new Error("the database is of a newer version: rotate its key with that one");
}

interface Vaults {
  readonly from: Vault;
  readonly to: Vault;
}

async function sealRecords(session: Session, table: RecordTable, { from, to }: Vaults): Promise<void> {
  const sealed = Object.entries(table.columns).filter(([, column]) => column.type === "sealed");
  if (sealed.length === 0) return;
  const [old, fresh] = [createRecordValues(from), createRecordValues(to)];
  for (const row of await session.query<Record<string, unknown>>(`SELECT * FROM ${table.table}`)) {
    const id = String(row.id);
    const fields = old.toRecord(table, row);
    for (const [field, column] of sealed) {
      const value = fresh.toSql({ table, column, id }, fields[field]);
      await session.query(`UPDATE ${table.table} SET ${column.name} = $1 WHERE id = $2`, [value, id]);
    }
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

async function sealMeta(session: Session, vaults: Vaults, earlierKey: string | undefined): Promise<void> {
  const { from, to } = vaults;
  const pepper = await readMeta(session, PEPPER.name);
  if (pepper !== undefined) {
    await writeMeta(session, PEPPER.name, to.seal(from.open(pepper, PEPPER.place), PEPPER.place));
  }
  const earlier = withEarlierKey(earlierKey, await readMeta(session, "earlier_keys"), vaults);
  if (earlier !== undefined) return writeMeta(session, "earlier_keys", earlier);
  await session.query("DELETE FROM meta WHERE name = 'earlier_keys'");
}

/** Long, since a database may hold the DKIM keys of many domains. */
const STATEMENT_MS = 600_000;

/**
 * The check value of a database's master key; `undefined` if no service has been started on it. Throws while a move or a
 * restore fills it: what is still to come is sealed under the old key.
 */
export async function readKeyCheckValue(url: string): Promise<string | undefined> {
  const driver = openDriver({ url, connections: 1 });
  try {
    if (!(await isMigrated(driver))) await migrateAt(url);
    await refuseHalfMoved(driver);
    return await readMeta(driver, "master_key_check");
  } finally {
    await driver.close();
  }
}
