/** The program of the thread that shortens the database's log once it has become long, so that no commit has to. */
import { parentPort, workerData } from "node:worker_threads";
import { writeLogBack } from "../store/sqlite/database/write-log-back.ts";
import { createSystemClock } from "./system-clock.ts";

if (!parentPort) throw new Error("this program runs on a thread that the store starts");
await writeLogBack(workerData, createSystemClock());
