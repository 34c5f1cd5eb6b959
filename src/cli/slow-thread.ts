/** The program of the thread on which a command works on whole files; see `slowly`. */
import { parentPort, workerData } from "node:worker_threads";
import { SLOW_WORK, type SlowStep } from "./backup/file-work.ts";
import { isEnvironmentFault } from "./commands/or-refusal.ts";
import type { SlowAnswer, SlowCall, SlowNews } from "./slow-work.ts";

if (!parentPort) throw new Error("this program runs on a thread that a command starts");
const port = parentPort;
const tell = (step: SlowStep) => post({ kind: "step", step });
post(answer(workerData as SlowCall));

function post(message: SlowAnswer | SlowNews): void {
  port.postMessage(message);
}

function answer({ name, args }: SlowCall): SlowAnswer {
  const work = SLOW_WORK[name] as (...given: readonly unknown[]) => unknown;
  try {
    return { kind: "done", result: work(tell, ...args) };
  } catch (error) {
    return {
      kind: "failed",
      message: String(error instanceof Error ? error.message : error),
      isExpected: isEnvironmentFault(error),
    };
  }
}
