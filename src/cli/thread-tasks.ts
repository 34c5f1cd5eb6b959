/** Work that one thread asks of another: `createThreadTasks` on the side that asks, `answerTasks` in the program of the other. */
import { parentPort, Worker } from "node:worker_threads";
import type { Clock } from "../core/clock.ts";
import { errorText } from "../core/error-text.ts";
import { present } from "../core/present.ts";
import { hasFreeFiles } from "./large-bodies/free-files.ts";

/** What a thread can be asked for, by name. Arguments and results are structured clones. */
export type ThreadWork = Readonly<Record<string, (...args: never[]) => unknown>>;

/** A worker thread, which is started when it is first needed. */
export interface ThreadTasks<Work extends ThreadWork> {
  /**
   * Has the thread do it; without free files to start one with, it is done here. Rejects if the work does, or if the thread breaks or
   * ends before its answer.
   *
   * @param transfer what of the arguments is handed over in place of being copied
   */
  ask<Name extends keyof Work>(
    name: Name,
    args: Parameters<Work[Name]>,
    transfer?: readonly ArrayBuffer[],
  ): Promise<Awaited<ReturnType<Work[Name]>>>;
  /** Ends the thread; tasks under way reject. */
  stop(): Promise<void>;
}

export interface ThreadTasksOptions<Work extends ThreadWork> {
  /** Calls `answerTasks` with the same work. */
  readonly program: URL;
  readonly work: Work;
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

interface Question {
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

type Answer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failed: { readonly message: string; readonly code?: unknown } };

interface Waiter {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly release: () => void;
}

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiter>;
}

export function createThreadTasks<Work extends ThreadWork>(
  options: ThreadTasksOptions<Work>,
): ThreadTasks<Work> {
  const { program, work, clock } = options;
  const what = `the ${options.name} thread`;
  let thread: Thread | undefined;
  let cancelIdle = () => {};
  let lastId = 0;

  const end = (ended: Thread, reason: string) => {
    if (thread === ended) thread = undefined;
    rejectAll(ended, reason);
    return ended.worker.terminate();
  };
  const start = (): Thread => {
    const started: Thread = { worker: new Worker(program), waiting: new Map() };
    started.worker.on("message", (answer: Answer) => {
      take(started, answer);
      if (started.waiting.size === 0) cancelIdle = clock.after(IDLE_MS, () => void end(started, "idle"));
    });
    started.worker.on("error", (error) => void end(started, `${what} broke: ${String(error)}`));
    started.worker.on("exit", () => void end(started, `${what} ended`));
    return started;
  };
  const askThread = (question: Omit<Question, "id">, transfer: readonly ArrayBuffer[]) => {
    cancelIdle();
    thread ??= start();
    const asked = thread;
    const id = ++lastId;
    return new Promise<unknown>((resolve, reject) => {
      const release = clock.after(LIMIT_MS, () => void end(asked, `${what} took too long`));
      asked.waiting.set(id, { resolve, reject, release });
      asked.worker.postMessage({ id, ...question } satisfies Question, [...transfer]);
    });
  };
  return {
    async ask(name, args, transfer = []) {
      const question = { name: String(name), args };
      const canAsk = thread !== undefined || hasFreeFiles(FREE_FILES);
      return (canAsk ? await askThread(question, transfer) : await perform(work, question)) as never;
    },
    async stop() {
      cancelIdle();
      if (thread) await end(thread, "the service stopped");
    },
  };
}

function rejectAll({ waiting }: Thread, reason: string): void {
  for (const { reject, release } of waiting.values()) {
    release();
    reject(new Error(reason));
  }
  waiting.clear();
}

function take({ waiting }: Thread, answer: Answer): void {
  const waiter = waiting.get(answer.id);
  waiting.delete(answer.id);
  waiter?.release();
  if ("failed" in answer) {
    const { message, code } = answer.failed;
    waiter?.reject(Object.assign(new Error(message), present({ code })));
  } else waiter?.resolve(answer.result);
}

/**
 * To be called by the program of a thread: does what the thread is asked for.
 *
 * @param transferOf what of a result is handed over in place of being copied
 */
export function answerTasks<Work extends ThreadWork>(
  work: Work,
  transferOf: (result: Awaited<ReturnType<Work[keyof Work]>>) => readonly ArrayBuffer[] = () => [],
): void {
  if (!parentPort) throw new Error("this program runs on a thread that the service starts");
  const port = parentPort;
  port.on("message", ({ id, ...question }: Question) => {
    const reply = (answer: Answer, transfer: readonly ArrayBuffer[] = []) =>
      port.postMessage(answer, [...transfer]);
    perform(work, question).then(
      (result) => reply({ id, result }, transferOf(result as never)),
      (error) => reply({ id, failed: { message: errorText(error), code: error?.code } }),
    );
  });
}

async function perform(work: ThreadWork, { name, args }: Omit<Question, "id">): Promise<unknown> {
  return work[name]?.(...(args as never[]));
}
