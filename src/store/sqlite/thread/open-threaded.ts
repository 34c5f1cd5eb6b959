import { Worker } from "node:worker_threads";
import type { Clock } from "../../../core/clock.ts";
import type { Lane } from "../../../core/webhooks/webhook-outbox.ts";
import { createNotifier } from "../../notifier.ts";
import type { OnMigration } from "../../on-migration.ts";
import type { Store } from "../../store.ts";
import type { Vault } from "../../vault.ts";
import { openReading, type ReadingStore } from "../open-reading.ts";
import { createRemoteCalls } from "./remote-calls.ts";
import { createSplitStore } from "./split-store.ts";
import {
  type Call,
  type FromThread,
  type PlainAnswers,
  type ThreadSetup,
  type ToThread,
  toError,
} from "./thread-messages.ts";

export interface ThreadedOptions {
  /** A program that calls `runStoreThread` with its `workerData`. */
  readonly program: URL;
  readonly setup: ThreadSetup;
  /** With the master key that `setup` has. */
  readonly vault: Vault;
  readonly clock: Pick<Clock, "after" | "monotonicMs">;
  /** Called if the thread ends by itself. From then on every call fails, until the process is restarted. */
  readonly onLost: (error: Error) => void;
  readonly onMigration?: OnMigration | undefined;
  /** For tests, which open many stores on one thread. Absent: starts a thread for this store. */
  readonly start?: (program: URL, setup: ThreadSetup) => Pick<Worker, "on" | "postMessage">;
}

/**
 * Opens SQLite with its writing connection on a thread of its own, and one for reading on this thread. A commit does not
 * block this thread, and a read sees every write whose promise has resolved.
 */
export async function openThreaded({
  program,
  setup,
  vault,
  clock,
  onLost,
  onMigration,
  start = (program, workerData) => new Worker(program, { workerData }),
}: ThreadedOptions): Promise<Store> {
  const ready = createNotifier<string>();
  const events = createNotifier<string>();
  const lanes = createNotifier<Lane>();
  let reading: ReadingStore | undefined;
  const thread = listenTo(start(program, setup), {
    onAnswers(answers) {
      reading?.renew();
      calls.answer(answers);
      ready.notify(answers.ready);
      events.notify(answers.events);
      lanes.notify(answers.lanes);
    },
    onLost(error) {
      calls.fail("the store's thread has ended: the process has to be restarted");
      onLost(error);
    },
    onMigration,
  });
  const calls = createRemoteCalls(thread.send, clock);
  await thread.opened;
  const opened = openReading(setup.path, vault);
  reading = opened;
  return {
    ...createSplitStore(calls, opened, {
      onReady: ready.subscribe,
      onEvents: events.subscribe,
      onLanes: lanes.subscribe,
    }),
    async close() {
      await calls.close();
      await opened.store.close();
      await thread.close();
    },
  };
}

interface Listeners {
  readonly onAnswers: (answers: PlainAnswers) => void;
  /** Called only if the thread was open. */
  readonly onLost: (error: Error) => void;
  readonly onMigration: OnMigration | undefined;
}

function listenTo(worker: Pick<Worker, "on" | "postMessage">, { onAnswers, onLost, onMigration }: Listeners) {
  const opened = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  let state: "opening" | "open" | "over" = "opening";

  const end = (error?: Error) => {
    const before = state;
    state = "over";
    if (error && before === "opening") opened.reject(error);
    if (error && before === "open") onLost(error);
    ended.resolve();
  };
  worker.on("error", (error) => end(error instanceof Error ? error : new Error(String(error))));
  worker.on("exit", (code) =>
    end(state === "over" ? undefined : new Error(`the store's thread ended with code ${code}`)),
  );
  worker.on("message", (message: FromThread) => {
    if (typeof message === "string") return onAnswers(JSON.parse(message) as PlainAnswers);
    if (message.kind === "answers") return onAnswers(message);
    if (message.kind === "migrates") return onMigration?.(message.migration);
    if (message.kind === "closed") return end();
    if (message.kind === "refused") return end(toError(message.failure));
    state = "open";
    opened.resolve();
  });
  const post = (message: ToThread) => worker.postMessage(message);
  return {
    send({ plain, others }: { readonly plain: readonly Call[]; readonly others: readonly Call[] }) {
      if (plain.length > 0) post(JSON.stringify(plain));
      if (others.length > 0) post(others);
    },
    opened: opened.promise,
    async close() {
      if (state === "open") post({ kind: "close" });
      await ended.promise;
    },
  };
}
