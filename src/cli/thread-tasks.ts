import { Worker } from "node:worker_threads";
import type { Clock } from "../core/clock.ts";
import { hasFreeFiles } from "./large-bodies/free-files.ts";

/** Tasks for a worker thread, which is started when it is first needed. It gets `{ id, task }`, and answers with that id. */
export interface ThreadTasks<Task, Answer> {
  /** False if there are no free files to start the thread with. Then the work has to be done here. */
  canAsk(): boolean;
  /** Rejects if the thread breaks or ends before its answer. */
  ask(task: Task, transfer?: readonly ArrayBuffer[]): Promise<Answer>;
  /** Ends the thread; tasks under way reject. */
  stop(): Promise<void>;
}

export interface ThreadTasksOptions {
  readonly program: URL;
  readonly clock: Pick<Clock, "after">;
  /** The thread's name in errors, such as `large-body`. */
  readonly name: string;
}

/** If a task takes longer, the thread is replaced and its tasks reject. */
const LIMIT_MS = 60_000;

/** An idle thread is ended, since it holds some megabytes. */
const IDLE_MS = 60_000;

/**
 * How many files must be free to start a thread. It needs five, the runtime ends the process if there are not even two, and
 * clients may connect meanwhile.
 */
const FREE_FILES = 32;

interface Waiter<Answer> {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
  readonly release: () => void;
}

interface Thread<Answer> {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiter<Answer>>;
}

export function createThreadTasks<Task, Answer extends { readonly id: number }>({
  program,
  clock,
  name,
}: ThreadTasksOptions): ThreadTasks<Task, Answer> {
  let thread: Thread<Answer> | undefined;
  let cancelIdle = () => {};
  let lastId = 0;

  const end = (ended: Thread<Answer>, reason: string) => {
    if (thread === ended) thread = undefined;
    for (const { reject, release } of ended.waiting.values()) {
      release();
      reject(new Error(reason));
    }
    ended.waiting.clear();
    return ended.worker.terminate();
  };
  const start = (): Thread<Answer> => {
    const started: Thread<Answer> = { worker: new Worker(program), waiting: new Map() };
    started.worker.on("message", (answer: Answer) => {
      take(started, answer);
      if (started.waiting.size === 0) cancelIdle = clock.after(IDLE_MS, () => void end(started, "idle"));
    });
    started.worker.on("error", (error) => void end(started, `the ${name} thread broke: ${String(error)}`));
    started.worker.on("exit", () => void end(started, `the ${name} thread ended`));
    return started;
  };
  return {
    canAsk: () => thread !== undefined || hasFreeFiles(FREE_FILES),
    ask(task, transfer = []) {
      cancelIdle();
      thread ??= start();
      const { worker, waiting } = thread;
      const asked = thread;
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        const release = clock.after(LIMIT_MS, () => void end(asked, `the ${name} thread took too long`));
        waiting.set(id, { resolve, reject, release });
        worker.postMessage({ id, task }, [...transfer]);
      });
    },
    async stop() {
      cancelIdle();
      if (thread) await end(thread, "the service stopped");
    },
  };
}

function take<Answer extends { readonly id: number }>({ waiting }: Thread<Answer>, answer: Answer): void {
  const waiter = waiting.get(answer.id);
  waiting.delete(answer.id);
  waiter?.release();
  waiter?.resolve(answer);
}
