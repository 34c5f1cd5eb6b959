/** The program of the thread that parses large bodies and composes large mail, so that other requests do not wait. */
import { LARGE_BODY_WORK, octetsIn } from "./large-bodies/create-large-body-thread.ts";
import { answerTasks } from "./thread-tasks.ts";

answerTasks(LARGE_BODY_WORK, octetsIn);
