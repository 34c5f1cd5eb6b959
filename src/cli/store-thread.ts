/** The program of the store's thread. Makes the thread's parts, as `compose.ts` makes those of the process. */
import { randomBytes } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { runStoreThread } from "../store/sqlite/thread/run-store-thread.ts";
import { createVault } from "../store/vault.ts";
import { createSystemClock } from "./system-clock.ts";

if (!parentPort) throw new Error("this program runs on a thread that `openSqliteStore` starts");
const vault = createVault({ masterKey: workerData.masterKey, randomBytes });
const checkpointThread = new URL("./checkpoint-thread.ts", import.meta.url);
const { now } = createSystemClock();
await runStoreThread({ port: parentPort, setup: workerData, vault, checkpointThread, now });
