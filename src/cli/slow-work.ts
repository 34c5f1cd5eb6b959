import { Worker } from "node:worker_threads";
import { AdminFailure } from "./admin/admin-client.ts";
import type { SLOW_WORK } from "./backup/file-work.ts";

type Work = typeof SLOW_WORK;

/** What the thread is started with. */
export interface SlowCall {
  readonly name: keyof Work;
  readonly args: readonly never[];
}

/** Its only answer. `isExpected`: the message is written for the operator. */
export type SlowAnswer =
  | { readonly kind: "done"; readonly result: unknown }
  | { readonly kind: "failed"; readonly message: string; readonly isExpected: boolean };

/**
 * Work on whole files, which takes minutes where they are large. It is done on a thread: otherwise no signal would be heard
 * meanwhile. The thread ends with the process.
 */
export function slowly<Name extends keyof Work>(
  name: Name,
  ...args: Parameters<Work[Name]>
): Promise<ReturnType<Work[Name]>> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./slow-thread.ts", import.meta.url), { workerData: { name, args } });
    worker.on("error", reject);
    // After an answer this comes too late to matter.
    worker.on("exit", () => reject(new Error(`the thread ended in the middle of ${name}`)));
    worker.on("message", (answer: SlowAnswer) => {
      if (answer.kind === "done") resolve(answer.result as ReturnType<Work[Name]>);
      else reject(answer.isExpected ? new AdminFailure(answer.message) : new Error(answer.message));
    });
  });
}
