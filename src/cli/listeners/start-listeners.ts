/** Threads that listen on the process's port too. They accept and look up messages, and forward other requests. */
import { Worker } from "node:worker_threads";
import type { AnswerRequest } from "../../api/app-deps.ts";
import type { Clock } from "../../core/clock.ts";
import { createNotifier } from "../../store/notifier.ts";
import type { Queue } from "../../store/store.ts";
import type { Tls } from "../http/tls-files.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { prepareForward } from "./forward.ts";
import { type ForwardSocket, openForwardSocket } from "./forward-socket.ts";
import type { FromListener, ListenerSetup, Observed, ToListener } from "./thread-messages.ts";

export interface Listeners {
  /** The same queue, whose `onReady` also reports jobs that the threads accept. */
  heard(queue: Queue): Queue;
  /** Resolves when all threads take requests. `answer` answers what they forward. */
  start(port: number, answer: AnswerRequest): Promise<void>;
  /** Names of the threads whose event loop has not turned for `limitMs`. */
  stalled(limitMs: number): readonly string[];
  /** Has all threads show this certificate; see `Listener`. Rejects if one goes on with the one from before. */
  renew(tls: Tls): Promise<void>;
  /** The threads refuse new requests, finish the open ones, and end. */
  stop(): Promise<void>;
}

export interface ListenersOptions {
  /** How many threads besides the main one. */
  readonly count: number;
  /** The program that each of them runs. */
  readonly program: URL;
  readonly setup: Omit<ListenerSetup, "port" | "socket" | "shared">;
  readonly memory: SharedArrayBuffer;
  readonly clock: Clock;
  readonly observe: Pick<Metrics, "request" | "timer">;
  /** Called when a thread has ended by itself, so that some clients are no longer served. */
  readonly onLost: (error: Error) => void;
}

export function createListeners(options: ListenersOptions): Listeners {
  const { count, clock, memory } = options;
  const ready = createNotifier<string>();
  const threads: ListenerThread[] = [];
  let forwardSocket: ForwardSocket | undefined;

  const onMessage = (name: string, message: FromListener) => {
    if (message.kind === "ready") ready.notify(message.queues);
    if (message.kind === "turn") report(name, message, options.observe);
  };
  return {
    heard: (queue) => ({
      ...queue,
      onReady(listener) {
        const ends = [queue.onReady(listener), ready.subscribe(listener)];
        return () => {
          for (const end of ends) end();
        };
      },
    }),
    async start(port, answer) {
      if (count === 0) return;
      forwardSocket = openForwardSocket(answer, options.setup.dataFolder);
      const { path: socket } = forwardSocket;
      await prepareForward(`${socket}-nobody`);
      for (let index = 1; index <= count; index++) {
        const shared = { memory, share: { index, of: count + 1 } };
        const setup = { ...options.setup, port, socket, shared };
        threads.push(
          startThread(setup, { ...options, onMessage: (message) => onMessage(nameOf(index), message) }),
        );
      }
      await Promise.all(threads.map(({ opened }) => opened));
    },
    stalled: (limitMs) =>
      threads.flatMap((thread, index) =>
        clock.monotonicMs() - thread.turnedAt() > limitMs ? [nameOf(index + 1)] : [],
      ),
    async renew(tls) {
      // All answers are waited for, so that none is taken for one to the next certificate.
      const problems = await Promise.all(threads.map((thread) => thread.renew(tls)));
      const problem = problems.find((each) => each !== undefined);
      if (problem !== undefined) throw new Error(problem);
    },
    async stop() {
      await Promise.all(threads.map((thread) => thread.stop()));
      forwardSocket?.stop();
    },
  };
}

function nameOf(index: number): string {
  return `listener ${index}`;
}

function report(name: string, { answered, lateMs }: Observed, observe: ListenersOptions["observe"]): void {
  for (const { ms, ...request } of answered) for (const each of ms) observe.request({ ...request, ms: each });
  for (const each of lateMs) observe.timer(name, each);
}

interface ListenerThread {
  readonly opened: Promise<void>;
  /** Monotonic milliseconds. */
  turnedAt(): number;
  /** Resolves with why the thread goes on with the certificate from before. */
  renew(tls: Tls): Promise<string | undefined>;
  stop(): Promise<void>;
}

interface ThreadListeners extends Pick<ListenersOptions, "program" | "clock" | "onLost"> {
  readonly onMessage: (message: FromListener) => void;
}

function startThread(
  setup: ListenerSetup,
  { program, clock, onMessage, onLost }: ThreadListeners,
): ListenerThread {
  const worker = new Worker(program, { workerData: setup });
  const opened = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  let turnedAt = clock.monotonicMs();
  let state: "opening" | "open" | "over" = "opening";
  let onRenewed = (_problem?: string) => {};

  const end = (error: Error) => {
    const before = state;
    state = "over";
    if (before === "opening") opened.reject(error);
    if (before === "open") onLost(error);
    ended.resolve();
  };
  worker.on("error", (error) => end(error instanceof Error ? error : new Error(String(error))));
  worker.on("exit", (code) => end(new Error(`a listener thread ended with code ${code}`)));
  worker.on("message", (message: FromListener) => {
    turnedAt = clock.monotonicMs();
    onMessage(message);
    if (message.kind === "open") {
      state = "open";
      opened.resolve();
    }
    if (message.kind === "renewed") onRenewed(message.problem);
    if (message.kind === "closed") {
      state = "over";
      ended.resolve();
    }
  });
  return {
    opened: opened.promise,
    turnedAt: () => turnedAt,
    async renew(tls) {
      const renewed = new Promise<string | undefined>((resolve) => {
        onRenewed = resolve;
      });
      worker.postMessage({ kind: "renew", tls } satisfies ToListener);
      return Promise.race([renewed, ended.promise.then(() => undefined)]);
    },
    async stop() {
      await opened.promise.catch(() => {});
      if (state === "open") worker.postMessage({ kind: "drain" } satisfies ToListener);
      await ended.promise;
    },
  };
}
