import { statSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { OnStep } from "./backup/backup-progress.ts";
import type { SLOW_WORK, SlowStep } from "./backup/file-work.ts";
import { CommandFailure } from "./commands/command-failure.ts";

type Work = typeof SLOW_WORK;

/** What the thread is started with. */
export interface SlowCall {
  readonly name: keyof Work;
  readonly args: readonly unknown[];
}

/** The thread's last message. `isExpected`: the text is written for the operator. */
export type SlowAnswer =
  | { readonly kind: "done"; readonly result: unknown }
  | { readonly kind: "failed"; readonly message: string; readonly isExpected: boolean };

/** The messages before the last one. */
export interface SlowNews {
  readonly kind: "step";
  readonly step: SlowStep;
}

type ArgsOf<Call> = Call extends (tell: never, ...args: infer Args) => unknown ? Args : never;

/**
 * Does work on whole files, which takes minutes if they are large. It is done on a thread: otherwise the process would not react to
 * signals meanwhile. The thread ends with the process. `onStep` is told how far it is, several times a second.
 */
export function slowly<Name extends keyof Work>(
  name: Name,
  args: ArgsOf<Work[Name]>,
  onStep: OnStep,
): Promise<ReturnType<Work[Name]>> {
  const steps = followSteps(onStep);
  return new Promise<ReturnType<Work[Name]>>((resolve, reject) => {
    const worker = new Worker(new URL("./slow-thread.ts", import.meta.url), { workerData: { name, args } });
    worker.on("error", reject);
    // After an answer this has no effect.
    worker.on("exit", () => reject(new Error(`the thread ended in the middle of ${name}`)));
    worker.on("message", (message: SlowAnswer | SlowNews) => {
      if (message.kind === "step") steps.hear(message.step);
      else if (message.kind === "done") resolve(message.result as ReturnType<Work[Name]>);
      else reject(message.isExpected ? new CommandFailure(message.message) : new Error(message.message));
    });
  }).finally(steps.end);
}

const LOOK_EVERY_MS = 250;

/** Follows a step that writes a file by the file's size, since the thread waits for SQLite or the system and says nothing. */
function followSteps(onStep: OnStep) {
  let current: SlowStep | undefined;
  const look = () => {
    if (!current) return;
    const { file, ...step } = current;
    const written = file === undefined ? undefined : octetsOf(file);
    onStep(written === undefined ? step : { ...step, done: Math.min(written, step.of ?? written) });
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  return {
    hear(step: SlowStep) {
      current = step;
      look();
    },
    end: () => clearInterval(timer),
  };
}

/** The file's size; 0 if it does not exist: a thread reports a step before it makes the step's file. */
function octetsOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
