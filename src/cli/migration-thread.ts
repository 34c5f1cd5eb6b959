/** The program of the thread that brings an older database to this version's schema; see `migrateAside`. */
import { parentPort, workerData } from "node:worker_threads";
import { runMigration } from "../store/sqlite/thread/run-migration.ts";

if (!parentPort) throw new Error("this program runs on a thread that the store starts");
runMigration(parentPort, workerData);
