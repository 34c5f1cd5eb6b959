import type { OnMigration } from "../on-migration.ts";
import type { Driver } from "./database/driver.ts";
import { isOlder, migrate } from "./migrate.ts";
import { migrateAside } from "./thread/migrate-aside.ts";

export interface MigrationOptions {
  /** The program for `migrateAside`; absent: this thread migrates. */
  readonly migrationThread?: URL | undefined;
  readonly onMigration?: OnMigration | undefined;
}

/** `path`: that of the driver's database. `refuse`: throws if the database of an older program must keep its schema. */
export type OlderDatabase = MigrationOptions & { readonly path: string; readonly refuse?: () => void };

/** `migrate` for a database that may have millions of messages: meanwhile this thread goes on, and still reacts to signals. */
export async function migrateOlder(driver: Driver, options: OlderDatabase): Promise<void> {
  const { path, migrationThread, onMigration, refuse } = options;
  if (isOlder(driver)) {
    refuse?.();
    if (migrationThread) await migrateAside(migrationThread, path, onMigration);
    else migrate(driver, onMigration);
  }
  migrate(driver);
}
