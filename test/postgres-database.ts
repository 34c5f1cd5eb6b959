/** A database of the test's own, with the schema in it. */
import { openDriver } from "../src/store/postgres/driver.ts";
import { migrate } from "../src/store/postgres/migrate.ts";
import { postgresServer, type TestDatabase } from "./postgres-server.ts";

export async function freshDatabase(): Promise<TestDatabase> {
  return (await postgresServer(prepare)).createDatabase();
}

async function prepare(url: string): Promise<void> {
  const driver = openDriver({ url });
  await migrate(driver);
  await driver.close();
}
