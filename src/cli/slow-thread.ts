/** The program of the thread on which a command works on whole files; see `slowly`. */
import { parentPort, workerData } from "node:worker_threads";
import { SLOW_WORK } from "./backup/file-work.ts";
import { isEnvironmentFault } from "./or-refusal.ts";
import type { SlowAnswer, SlowCall } from "./slow-work.ts";

if (!parentPort) throw new Error("this program runs on a thread that a command starts");
parentPort.postMessage(answer(workerData as SlowCall));

function answer({ name, args }: SlowCall): SlowAnswer {
  const work = SLOW_WORK[name] as (...given: readonly never[]) => unknown;
  try {
    return { kind: "done", result: work(...args) };
  } catch (error) {
    return {
      kind: "failed",
      message: String(error instanceof Error ? error.message : error),
      isExpected: isEnvironmentFault(error),
    };
  }
}
