import type { MessagePort } from "node:worker_threads";
import type { AcceptResult } from "../../../core/accept-request.ts";
import type { Lane } from "../../../core/webhook-outbox.ts";
import type { Vault } from "../../vault.ts";
import type { SqliteStore } from "../create-store.ts";
import { openSqlite } from "../open-sqlite.ts";
import type { PackedAccept } from "../packed-accept.ts";
import { slowCommits } from "../slow-commits.ts";
import {
  type Answers,
  type Call,
  type FromThread,
  type ThreadSetup,
  type ToThread,
  toFailure,
} from "./messages.ts";

export interface StoreThread {
  readonly port: MessagePort;
  readonly setup: ThreadSetup;
  readonly vault: Vault;
}

/** The thread that owns the writing connection: opens the database, then answers calls until it is told to close. */
export async function runStoreThread({ port, setup, vault }: StoreThread): Promise<void> {
  const say = (message: FromThread) => port.postMessage(message);
  const { path, commitMs } = setup;
  try {
    serve(await openSqlite({ path, vault, ...slowCommits(commitMs) }), port, say);
    say({ kind: "open" });
  } catch (error) {
    say({ kind: "refused", failure: toFailure(error) });
    port.close();
  }
}

function serve(store: SqliteStore, port: MessagePort, say: (message: FromThread) => void): void {
  const run = createDispatch(store);
  const outbox = createOutbox(say);
  store.queue.onReady(outbox.ready);
  store.feed.onEvents(outbox.events);
  store.outbox.onReady(outbox.lane);
  port.on("message", (message: ToThread) => {
    if (message === "close") {
      void store.close().then(() => {
        outbox.flush();
        say({ kind: "closed" });
        port.close();
      });
      return;
    }
    for (const call of message) {
      const [id] = call;
      run(call).then(
        (value) => outbox.value(id, value),
        (error) => outbox.failure(id, error),
      );
    }
  });
}

type Method = (...values: readonly unknown[]) => Promise<unknown>;

/** Finds the method a call names. */
function createDispatch(store: SqliteStore): (call: Call) => Promise<unknown> {
  const methods = new Map<string, Method>([["bootstrap", store.bootstrap as Method]]);
  for (const [room, verbs] of Object.entries(store)) {
    if (typeof verbs !== "object") continue;
    for (const [verb, method] of Object.entries(verbs)) methods.set(`${room}.${verb}`, method as Method);
  }
  const accept = async (request: unknown) => toShort(await store.acceptPacked(request as PackedAccept));
  methods.set("intake.accept", accept);
  return ([, name, ...values]) => {
    const method = methods.get(name);
    return method ? method(...values) : Promise.reject(new Error(`the store has no ${name}`));
  };
}

/** Nearly all are accepted, and then there is nothing to say but that they are done. */
function toShort(result: AcceptResult): AcceptResult | undefined {
  return result.kind === "accepted" ? undefined : result;
}

type Draft = { -readonly [K in keyof Omit<Answers, "kind">]: Answers[K][number][] };

/** Answers of one commit leave together. */
function createOutbox(say: (message: FromThread) => void) {
  let draft: Draft | undefined;
  const flush = () => {
    if (draft) say({ kind: "answers", ...draft });
    draft = undefined;
  };
  const open = (): Draft => {
    if (!draft) {
      draft = { done: [], values: [], failures: [], ready: [], events: [], lanes: [] };
      setImmediate(flush);
    }
    return draft;
  };
  return {
    flush,
    value(id: number, value: unknown) {
      if (value === undefined) open().done.push(id);
      else open().values.push([id, value]);
    },
    failure: (id: number, error: unknown) => void open().failures.push([id, toFailure(error)]),
    ready: (queue: string) => void open().ready.push(queue),
    events: (accountId: string) => void open().events.push(accountId),
    lane: (lane: Lane) => void open().lanes.push(lane),
  };
}
