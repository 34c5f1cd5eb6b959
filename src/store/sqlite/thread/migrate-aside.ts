import { Worker } from "node:worker_threads";
import type { MigrationStep, OnMigration } from "../../on-migration.ts";
import { type Failure, toError } from "./thread-messages.ts";

export type FromMigration = { readonly step: MigrationStep } | { readonly failure: Failure };

/**
 * Migrates a database on a thread of its own: a migration may take minutes, and the thread that runs it does not react to signals.
 * If the process ends meanwhile, nothing has changed. Throws as `migrate` does.
 *
 * @param program calls `runMigration` with its `workerData`
 */
export function migrateAside(program: URL, path: string, onMigration?: OnMigration): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const thread = new Worker(program, { workerData: path });
  thread.on("message", (message: FromMigration) => {
    if ("step" in message) onMigration?.(message.step);
    else reject(toError(message.failure));
  });
  thread.on("error", reject);
  thread.on("exit", (code) => {
    if (code === 0) resolve();
    else reject(new Error(`the thread that changes the schema ended with code ${code}`));
  });
  return promise;
}
