import type { MessagePort } from "node:worker_threads";
import { openDriver } from "../database/driver.ts";
import { migrate } from "../migrate.ts";
import { configure } from "../open-sqlite.ts";
import type { FromMigration } from "./migrate-aside.ts";
import { toFailure } from "./thread-messages.ts";

/** Runs on the thread that `migrateAside` starts: migrates, and reports each step, and a failure. */
export function runMigration(port: Pick<MessagePort, "postMessage">, path: string): void {
  const post = (message: FromMigration) => port.postMessage(message);
  try {
    const driver = openDriver(path, { create: false });
    try {
      configure(driver);
      migrate(driver, (step) => post({ step }));
    } finally {
      driver.close();
    }
  } catch (error) {
    post({ failure: toFailure(error) });
  }
}
