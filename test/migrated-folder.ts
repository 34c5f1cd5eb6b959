import { copyFileSync } from "node:fs";
import { join } from "node:path";
import {
  DATABASE_FILE,
  ensureDataFolder,
  MASTER_KEY_FILE,
  readMasterKey,
} from "../src/cli/data-folder/data-folder.ts";
import { openDriver } from "../src/store/sqlite/database/driver.ts";
import { migrate } from "../src/store/sqlite/migrate.ts";
import { configure } from "../src/store/sqlite/open-sqlite.ts";
import { folderUntilTheEnd } from "./temp-folder.ts";

/** Puts an empty database with the schema into a new data folder, as tests on PostgreSQL have it: to migrate it is half of a start's work. */
export function placeMigrated(dataFolder: string): void {
  migrated ??= makeMigrated();
  for (const name of [MASTER_KEY_FILE, DATABASE_FILE]) {
    copyFileSync(join(migrated, name), join(dataFolder, name));
  }
}

let migrated: string | undefined;

function makeMigrated(): string {
  const folder = folderUntilTheEnd("postrider-migrated-");
  ensureDataFolder(folder, { isWritten: true });
  readMasterKey(folder, undefined);
  const driver = openDriver(join(folder, DATABASE_FILE));
  configure(driver);
  migrate(driver);
  driver.close();
  return folder;
}
