/** A thread on which stores are opened one after the other, as `src/cli/store-thread.ts` opens its only one. */
import { randomBytes } from "node:crypto";
import { type MessagePort, parentPort } from "node:worker_threads";
import { runStoreThread } from "../../src/store/sqlite/thread/run-store-thread.ts";
import type { ThreadSetup } from "../../src/store/sqlite/thread/thread-messages.ts";
import { createVault } from "../../src/store/vault.ts";

interface NewStore {
  readonly port: MessagePort;
  readonly setup: ThreadSetup;
}

parentPort?.on("message", ({ port, setup }: NewStore) => {
  const vault = createVault({ masterKey: setup.masterKey, randomBytes });
  void runStoreThread({ port, setup, vault, now: Date.now });
});
