import { createHash } from "node:crypto";
import type { OnMigration } from "../on-migration.ts";
import type { Driver } from "./database/driver.ts";
import first from "./migrations/0001_first.sql" with { type: "text" };
import webhooks from "./migrations/0002_webhooks.sql" with { type: "text" };
import events from "./migrations/0003_events.sql" with { type: "text" };
import receipts from "./migrations/0004_receipts.sql" with { type: "text" };
import dlt from "./migrations/0005_dlt.sql" with { type: "text" };
import routes from "./migrations/0006_routes.sql" with { type: "text" };
import inbound from "./migrations/0007_inbound.sql" with { type: "text" };
import mail from "./migrations/0008_mail.sql" with { type: "text" };
import domains from "./migrations/0009_domains.sql" with { type: "text" };
import largeMail from "./migrations/0010_large_mail.sql" with { type: "text" };
import ownContent from "./migrations/0011_own_content.sql" with { type: "text" };
import jobsOfMessage from "./migrations/0012_jobs_of_message.sql" with { type: "text" };
import keysInOrder from "./migrations/0013_keys_in_order.sql" with { type: "text" };
import interruptions from "./migrations/0014_interruptions.sql" with { type: "text" };
import erasureBounds from "./migrations/0015_erasure_bounds.sql" with { type: "text" };
import partsOver from "./migrations/0016_parts_over.sql" with { type: "text" };
import optOutsByRecipient from "./migrations/0017_opt_outs_by_recipient.sql" with { type: "text" };

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

/** In order; forward only. A file that has been released is never changed: its checksum is kept. */
const MIGRATIONS: readonly Migration[] = [
  { number: 1, name: "0001_first", sql: first },
  { number: 2, name: "0002_webhooks", sql: webhooks },
  { number: 3, name: "0003_events", sql: events },
  { number: 4, name: "0004_receipts", sql: receipts },
  { number: 5, name: "0005_dlt", sql: dlt },
  { number: 6, name: "0006_routes", sql: routes },
  { number: 7, name: "0007_inbound", sql: inbound },
  { number: 8, name: "0008_mail", sql: mail },
  { number: 9, name: "0009_domains", sql: domains },
  { number: 10, name: "0010_large_mail", sql: largeMail },
  { number: 11, name: "0011_own_content", sql: ownContent },
  { number: 12, name: "0012_jobs_of_message", sql: jobsOfMessage },
  { number: 13, name: "0013_keys_in_order", sql: keysInOrder },
  { number: 14, name: "0014_interruptions", sql: interruptions },
  { number: 15, name: "0015_erasure_bounds", sql: erasureBounds },
  { number: 16, name: "0016_parts_over", sql: partsOver },
  { number: 17, name: "0017_opt_outs_by_recipient", sql: optOutsByRecipient },
];

/**
 * Brings the database to this program's schema, in one exclusive transaction. Throws if the database was
 * written by a newer program, or by migrations that are not these.
 */
export function migrate(driver: Driver, onMigration?: OnMigration): void {
  driver.exec("BEGIN EXCLUSIVE");
  try {
    driver.exec(`CREATE TABLE IF NOT EXISTS migrations (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL
) STRICT`);
    const done = checkedDone(driver);
    const open = MIGRATIONS.slice(done.length);
    for (const [index, migration] of open.entries()) {
      if (done.length > 0) onMigration?.({ name: migration.name, step: index + 1, of: open.length });
      apply(driver, migration);
    }
    driver.exec("COMMIT");
  } catch (error) {
    if (driver.isInTransaction()) driver.exec("ROLLBACK");
    throw error;
  }
}

interface Done {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
}

/** Throws as `migrate` does, and changes nothing. For a database that has a schema. */
export function refuseOtherVersion(driver: Driver): void {
  checkedDone(driver);
}

function checkedDone(driver: Driver): readonly Done[] {
  const done = driver.prepare<Done>("SELECT number, name, checksum FROM migrations ORDER BY number").all();
  for (const row of done) check(row);
  return done;
}

function check(row: Done): void {
  const known = MIGRATIONS.find((migration) => migration.number === row.number);
  if (!known) {
    throw new Error(
      `the database is of a newer version (${row.name}), and this one cannot read it: start that version or a later one, or go back to a backup from before`,
    );
  }
  if (checksum(known) !== row.checksum) {
    throw new Error(`the database was migrated with another text of ${row.name} than this version has`);
  }
}

/** Whether the database has the schema of an older program. */
export function isOlder(driver: Driver): boolean {
  const table = driver.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get();
  const done = table === undefined ? 0 : checkedDone(driver).length;
  return done > 0 && done < MIGRATIONS.length;
}

/** Whether a newer program has migrated the database. */
export function isNewer(driver: Driver): boolean {
  const done = driver.prepare<Pick<Done, "number">>("SELECT number FROM migrations").all();
  return done.some(({ number }) => !MIGRATIONS.some((migration) => migration.number === number));
}

function apply(driver: Driver, migration: Migration): void {
  driver.exec(migration.sql);
  driver
    .prepare("INSERT INTO migrations (number, name, checksum) VALUES (?, ?, ?)")
    .run(migration.number, migration.name, checksum(migration));
}

function checksum(migration: Migration): string {
  return createHash("sha256").update(migration.sql).digest("hex");
}
