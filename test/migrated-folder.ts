import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { DATABASE_FILE, ensureDataFolder } from "../src/cli/data-folder/data-folder.ts";
import { readMasterKey } from "../src/cli/keys/master-key.ts";
import { openDriver } from "../src/store/sqlite/database/driver.ts";
import { migrate } from "../src/store/sqlite/migrate.ts";
import { configure } from "../src/store/sqlite/open-sqlite.ts";
import { filledOnce } from "./shared-folder.ts";

/** Puts an empty database with the schema into a new data folder, as tests on PostgreSQL have it: to migrate it is half of a start's work. */
export function placeMigrated(dataFolder: string): void {
  migrated ??= filledOnce("postrider-migrated-", fill);
  readMasterKey(dataFolder, undefined);
  copyFileSync(join(migrated, DATABASE_FILE), join(dataFolder, DATABASE_FILE));
}

let migrated: string | undefined;

function fill(folder: string): void {
  ensureDataFolder(folder, { isWritten: true });
  const driver = openDriver(join(folder, DATABASE_FILE));
  configure(driver);
  migrate(driver);
  driver.close();
}
