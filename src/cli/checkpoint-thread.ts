/** The program of the thread that checkpoints the database once its write-ahead log has become long, so that no commit has to. */
import { parentPort, workerData } from "node:worker_threads";
import { checkpointUntilShort } from "../store/sqlite/database/checkpoint.ts";
import { createSystemClock } from "./system-clock.ts";

if (!parentPort) throw new Error("this program runs on a thread that the store starts");
await checkpointUntilShort(workerData, createSystemClock());
