import type { MessagePort } from "node:worker_threads";
import type { AcceptResult } from "../../../core/messages/accept-request.ts";
import type { Settlement } from "../../../core/queue/claimed-job.ts";
import type { Lane } from "../../../core/webhooks/webhook-outbox.ts";
import type { MigrationStep } from "../../on-migration.ts";
import type { Vault } from "../../vault.ts";
import type { SqliteStore } from "../create-store.ts";
import { slowCommits } from "../database/slow-commits.ts";
import type { PackedAccept } from "../intake/packed-accept.ts";
import { openSqlite } from "../open-sqlite.ts";
import {
  type Answers,
  type Call,
  type FromThread,
  PLAIN_METHODS,
  type PlainAnswers,
  type ThreadSetup,
  type ToThread,
  toFailure,
} from "./thread-messages.ts";

export interface StoreThread {
  readonly port: MessagePort;
  readonly setup: ThreadSetup;
  readonly vault: Vault;
  /** See `checkpointLongWal`. */
  readonly checkpointThread?: URL;
  /** The time of day. */
  readonly now: () => number;
}

/** Runs on the thread that owns the writing connection: opens the database, then answers calls until told to close. */
export async function runStoreThread({
  port,
  setup,
  vault,
  checkpointThread,
  now,
}: StoreThread): Promise<void> {
  const post = (message: FromThread) => port.postMessage(message);
  const { path, commitMs } = setup;
  try {
    const onMigration = (migration: MigrationStep) => post({ kind: "migrates", migration });
    const given = { path, vault, checkpointThread, onMigration, now };
    const options = { ...given, ...slowCommits(commitMs), hasOwnThread: true };
    serve(await openSqlite(options), port, post);
    post({ kind: "open" });
  } catch (error) {
    post({ kind: "refused", failure: toFailure(error) });
    port.close();
  }
}

function serve(store: SqliteStore, port: MessagePort, post: (message: FromThread) => void): void {
  const run = createDispatch(store);
  const answers = createAnswers(post);
  store.queue.onReady(answers.ready);
  store.feed.onEvents(answers.events);
  store.outbox.onReady(answers.lane);
  port.on("message", (message: ToThread) => {
    if (typeof message === "object" && "kind" in message) {
      void store.close().then(() => {
        answers.flush();
        post({ kind: "closed" });
        port.close();
      });
      return;
    }
    const calls = typeof message === "string" ? (JSON.parse(message) as readonly Call[]) : message;
    for (const call of calls) {
      const [id, method] = call;
      run(call).then(
        (value) => answers.value(id, method, value),
        (error) => answers.failure(id, error),
      );
    }
  });
}

type Method = (...values: readonly unknown[]) => Promise<unknown>;

/** Runs the method that a call names. */
function createDispatch(store: SqliteStore): (call: Call) => Promise<unknown> {
  const methods = new Map<string, Method>();
  for (const [part, verbs] of Object.entries(store)) {
    if (typeof verbs !== "object") continue;
    for (const [verb, method] of Object.entries(verbs)) methods.set(`${part}.${verb}`, method as Method);
  }
  const accept = async (request: unknown) => toShort(await store.acceptPacked(request as PackedAccept));
  methods.set("intake.accept", accept);
  const settle = (settlements: unknown) => store.queue.settle((settlements as Settlement[]).map(withGaps));
  methods.set("queue.settle", settle);
  return ([, name, ...values]) => {
    const method = methods.get(name);
    return method ? method(...values) : Promise.reject(new Error(`the store has no ${name}`));
  };
}

/** Leaves out the usual answer, so that only the call's id crosses. */
function toShort(result: AcceptResult): AcceptResult | undefined {
  return result.kind === "accepted" ? undefined : result;
}

/** JSON has no `undefined`: a part that was not tried arrives as `null`. */
function withGaps(settlement: Settlement): Settlement {
  return { ...settlement, outcomes: settlement.outcomes.map((outcome) => outcome ?? undefined) };
}

type Draft = { -readonly [K in keyof Omit<Answers, "kind">]: Answers[K][number][] };

/** Collects the answers of one commit, and sends them together: as JSON if all may. */
function createAnswers(post: (message: FromThread) => void) {
  let draft: Draft | undefined;
  let isPlain = true;
  const flush = () => {
    if (!draft) return;
    const { failures, ...plain } = draft;
    if (isPlain && failures.length === 0) post(JSON.stringify(plain satisfies PlainAnswers));
    else post({ kind: "answers", ...draft });
    draft = undefined;
    isPlain = true;
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
    value(id: number, method: string, value: unknown) {
      const { done, values } = open();
      if (value === undefined) return void done.push(id);
      values.push([id, value]);
      isPlain &&= PLAIN_METHODS.has(method);
    },
    failure: (id: number, error: unknown) => void open().failures.push([id, toFailure(error)]),
    ready: (queue: string) => void open().ready.push(queue),
    events: (accountId: string) => void open().events.push(accountId),
    lane: (lane: Lane) => void open().lanes.push(lane),
  };
}
