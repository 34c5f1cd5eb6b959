import { Worker } from "node:worker_threads";
import { type ReadLargeJson, readJson } from "../../api/body/read-json.ts";
import type { ComposeLarge } from "../../channels/email/mail/compose-large.ts";
import { composeMail } from "../../channels/email/mail/compose-mail.ts";
import type { Clock } from "../../core/clock.ts";
import { hasFreeFiles } from "./free-files.ts";
import type { FromThread, Task, ToThread } from "./messages.ts";

/** A worker thread for large bodies and large mail, which would hold up other requests. */
export interface LargeBodyThread {
  readonly readJson: ReadLargeJson;
  readonly compose: ComposeLarge;
  /** Ends the thread; tasks under way reject. */
  stop(): Promise<void>;
}

export interface LargeBodyThreadOptions {
  readonly program: URL;
  readonly clock: Pick<Clock, "after">;
}

/** If a task takes longer, the thread is replaced and its tasks reject. */
const LIMIT_MS = 60_000;

/** An idle thread is ended, since it holds some megabytes. */
const IDLE_MS = 60_000;

interface Waiter {
  readonly resolve: (answer: FromThread) => void;
  readonly reject: (error: Error) => void;
  readonly release: () => void;
}

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiter>;
}

/**
 * Files that can be opened where a thread is started. It needs five, the runtime ends the process if there are not two, and
 * clients may connect meanwhile.
 */
const FREE_FILES = 32;

/** The thread is started when it is first needed. Without free files the work is done here. Tasks that fail reject. */
export function createLargeBodyThread(deps: LargeBodyThreadOptions): LargeBodyThread {
  const { isThere, ask, stop } = createThread(deps);
  const canAsk = () => isThere() || hasFreeFiles(FREE_FILES);
  return {
    async readJson(octets) {
      if (!canAsk()) return readJson(octets);
      const answer = await ask({ kind: "read", octets }, octets instanceof ArrayBuffer ? [octets] : []);
      return answer.kind === "read" ? answer.body : undefined;
    },
    async compose(mail) {
      if (!canAsk()) return composeMail(mail);
      const answer = await ask({ kind: "compose", mail }, []);
      if (answer.kind !== "composed") throw new Error("the large-body thread answered something else");
      const { mail: composed } = answer;
      // Structured cloning turns a Buffer into a plain Uint8Array.
      return composed.kind === "composed" ? { ...composed, raw: toBuffer(composed.raw) } : composed;
    },
    stop,
  };
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

function createThread({ program, clock }: LargeBodyThreadOptions) {
  let thread: Thread | undefined;
  let cancelIdle = () => {};
  let lastId = 0;

  const end = (ended: Thread, reason: string) => {
    if (thread === ended) thread = undefined;
    for (const { reject, release } of ended.waiting.values()) {
      release();
      reject(new Error(reason));
    }
    ended.waiting.clear();
    return ended.worker.terminate();
  };
  const start = (): Thread => {
    const started: Thread = { worker: new Worker(program), waiting: new Map() };
    started.worker.on("message", (answer: FromThread) => {
      take(started, answer);
      if (started.waiting.size === 0) cancelIdle = clock.after(IDLE_MS, () => void end(started, "idle"));
    });
    started.worker.on("error", (error) => void end(started, `the large-body thread broke: ${String(error)}`));
    started.worker.on("exit", () => void end(started, "the large-body thread ended"));
    return started;
  };
  return {
    isThere: () => thread !== undefined,
    ask(task: Task, transfer: readonly ArrayBuffer[]): Promise<FromThread> {
      cancelIdle();
      thread ??= start();
      const { worker, waiting } = thread;
      const asked = thread;
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        const release = clock.after(LIMIT_MS, () => void end(asked, "the large-body thread took too long"));
        waiting.set(id, { resolve, reject, release });
        worker.postMessage({ id, task } satisfies ToThread, [...transfer]);
      });
    },
    stop: async () => void (thread && (await end(thread, "the service stopped"))),
  };
}

function take({ waiting }: Thread, answer: FromThread): void {
  const waiter = waiting.get(answer.id);
  waiting.delete(answer.id);
  waiter?.release();
  if (answer.kind === "failed") waiter?.reject(new Error(answer.message));
  else waiter?.resolve(answer);
}
