import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { Clock } from "../../core/clock.ts";
import { type Dump, dump } from "../../store/postgres/dump.ts";
import { load } from "../../store/postgres/load.ts";
import { CommandFailure } from "../commands/command-failure.ts";
import type { OnCutOff } from "../commands/cut-off.ts";
import { withReasons } from "../commands/or-refusal.ts";
import { findMasterKey, type KeyPlaces, requireMasterKey } from "../keys/find-master-key.ts";
import { MASTER_KEY_FILE } from "../keys/master-key.ts";
import type { BackupProgress } from "./backup-progress.ts";
import { createDumpFiles, readColumns, readRows, tableFile } from "./dump-files.ts";
import { type BackupOrder, describeBackup, writeSecrets } from "./make-backup.ts";
import { checkFiles, type Manifest, readManifest } from "./manifest.ts";
import { inNewFolder, type MadeBackup } from "./new-folder.ts";

export interface PostgresBackupOrder extends BackupOrder, BackupProgress {
  readonly databaseUrl: string;
}

/** Backs up one snapshot of a PostgreSQL database, whether its service runs or not. */
export function backUpPostgres(order: PostgresBackupOrder): Promise<MadeBackup> {
  return inNewFolder(order, async (draft) => {
    const files = createDumpFiles(draft, order);
    const onKey = (checkValue: string | undefined) => {
      if (order.withKey) requireMasterKey(order, checkValue);
    };
    const postgres = await withReasons(() => dump(order.databaseUrl, { ...files, onKey }));
    const secrets = order.withKey ? writeSecrets(draft, postgres.keyCheckValue, order) : [];
    return describeBackup(draft, {
      ...order,
      names: [...Object.keys(postgres.rows).map(tableFile), ...secrets],
      holds: holdingsOf(postgres),
      postgres,
    });
  });
}

function holdingsOf({ rows }: Dump): Manifest["holds"] {
  const { accounts = 0, connectors = 0, domains = 0, messages = 0, jobs: unfinished = 0 } = rows;
  return { accounts, connectors, domains, messages, unfinished };
}

export interface PostgresRestoreOrder extends BackupProgress, KeyPlaces {
  /** The backup's folder; absolute. */
  readonly from: string;
  readonly databaseUrl: string;
  readonly clock: Clock;
  readonly onCutOff: OnCutOff;
}

/** Restores a backup into an empty PostgreSQL database. Throws unless its master key is at hand or in the backup. */
export async function restorePostgres(order: PostgresRestoreOrder): Promise<Manifest> {
  const { from } = order;
  const manifest = readManifest(from);
  const { postgres } = manifest;
  if (!postgres) {
    throw new CommandFailure(
      "this backup is of SQLite: restore it into a data folder, without DATABASE_URL, and move it with migrate-to",
    );
  }
  requireOneKey(order, from, postgres.keyCheckValue);
  await checkFiles(from, manifest, order.onStep);
  const source = {
    dump: postgres,
    name: `${basename(from)} ${manifest.created_at}`,
    read: (table: string) =>
      heard(readRows(from, table), (rows) => order.onRows(table, rows, postgres.rows[table])),
    columns: (table: string) => readColumns(from, table),
    onTable: order.onTable,
    onStage: (stage: keyof typeof LEFT) => order.onCutOff(LEFT[stage]),
  };
  await withReasons(() => load(order.databaseUrl, order.clock, source));
  return manifest;
}

/** Passes the parts on, and calls `onRows` with how many rows there have been. */
async function* heard<Part extends readonly unknown[]>(
  parts: AsyncIterable<Part>,
  onRows: (rows: number) => void,
): AsyncIterable<Part> {
  let rows = 0;
  for await (const part of parts) {
    yield part;
    rows += part.length;
    onRows(rows);
  }
}

/** What is left if a signal ends the command. */
const LEFT = {
  begun: "the database is not complete, and no service starts on it: run the command again",
  complete: "the restore is complete",
};

function requireOneKey(places: KeyPlaces, from: string, checkValue: string | undefined): void {
  const { secret } = places;
  const own = join(from, MASTER_KEY_FILE);
  if (findMasterKey(places, checkValue) ?? findMasterKey({ dataFolder: from }, checkValue)) return;
  const where = existsSync(own) ? `${own} is not it` : "this backup holds none";
  throw new CommandFailure(
    secret === undefined
      ? `the master key of its time is not at hand, and ${where}: set POSTRIDER_SECRET to it`
      : `POSTRIDER_SECRET is not the master key of this backup's time, and ${where}: set it to that one`,
  );
}
