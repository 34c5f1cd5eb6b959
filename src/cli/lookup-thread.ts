/** The program of the thread that looks names up; see `createLookups`. */
import { createLookupWork } from "./network/create-lookups.ts";
import { createSystemClock } from "./system-clock.ts";
import { answerTasks } from "./thread-tasks.ts";

answerTasks(createLookupWork(createSystemClock()));
