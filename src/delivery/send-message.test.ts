import { expect, test } from "bun:test";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { email, sent } from "../../test/progress-samples.ts";
import type { ClaimedJob } from "../core/queue/claimed-job.ts";
import { type Queue, StoreUnavailable } from "../store/store.ts";
import type { Outlet } from "./outlets/outlet.ts";
import { createSender } from "./send-message.ts";
import type { Outgoing } from "./sending/to-outgoing.ts";

const LEASE_MS = 60_000;
const SEND_TIMEOUT_MS = 20_000;

interface Making {
  readonly makingMs: number;
  readonly isOurs?: () => boolean;
  /** The database is away for so long, when the email is made and when its job is put back. */
  readonly awayMs?: number;
}

/** An email that takes so long to make; what was done with it, in order. */
async function sendOne({ makingMs, isOurs = () => true, awayMs = 0 }: Making) {
  const clock = createHeldClock();
  const done: string[] = [];
  const outlet = {
    channel: {
      connectorId: "c",
      sendTimeoutMs: SEND_TIMEOUT_MS,
      async send() {
        done.push("sent");
        return { parts: [sent("x")], countsAsAttempt: true };
      },
    },
    unreserve: (count: number) => done.push(`unreserved ${count}`),
    handOver: () => done.push("handed over"),
    noteAttempt() {},
  } as unknown as Outlet;
  const whereItAnswers = () => {
    if (clock.monotonicMs() < awayMs) throw new StoreUnavailable("away");
  };
  const queue = {
    async release() {
      whereItAnswers();
      done.push("released");
    },
    settle: async () => [done.push("settled") > 0],
  } as unknown as Queue;
  const send = createSender({
    queue,
    clock,
    random: () => 0.5,
    log: {
      isDebug: () => false,
      debug() {},
      info() {},
      warn() {},
      error: (fields) => done.push(String(fields.err)),
    },
    observe: { attempt() {}, unconfirmed() {}, droppedReceipts() {} },
    async toOutgoing() {
      await clock.advance(makingMs);
      whereItAnswers();
      return { kind: "ready", message: {} } as Outgoing;
    },
    outletOf: () => outlet,
    signal: new AbortController().signal,
  });
  const job: ClaimedJob = {
    ...{ jobId: 1, queue: "q", claim: 1, attempt: 0, wasInterrupted: false },
    ...{ messageId: "m", accountId: "a", accountMode: "live", settings: {}, recipient: "ann@example.net" },
    ...{ progress: email("ann@example.net"), createdAt: clock.now(), expiresAt: clock.now() + 3_600_000 },
    content: { channel: "email" } as ClaimedJob["content"],
  };
  const leaseEndsMs = clock.monotonicMs() + LEASE_MS;
  let isDone = false;
  const sending = send(job, { outlet, outlets: [outlet], leaseEndsMs, isOurs, failover: "safe" });
  void sending.then(() => {
    isDone = true;
  });
  await clock.advance(0);
  for (let past = 0; !isDone && past < LEASE_MS; past += 100) await clock.advance(100);
  return done;
}

const SENT = ["handed over", "sent", "settled"];
const PUT_BACK = ["unreserved 1", "released"];

test("a message that took long to make is sent while its lease outlasts the slowest answer, and else put back", async () => {
  expect(await sendOne({ makingMs: 30_000 })).toEqual(SENT);
  expect(await sendOne({ makingMs: LEASE_MS - SEND_TIMEOUT_MS })).toEqual(PUT_BACK);
});

test("a message that may be another process's by now is put back, however long its lease", async () => {
  expect(await sendOne({ makingMs: 0, isOurs: () => false })).toEqual(PUT_BACK);
  // It was when it was begun to be made.
  const answers = [true, false];
  expect(await sendOne({ makingMs: 0, isOurs: () => answers.shift() === true })).toEqual(PUT_BACK);
});

test("a message that cannot be made, or put back, while the database is away is in line again when that is back", async () => {
  expect(await sendOne({ makingMs: 0, awayMs: 100 })).toEqual(PUT_BACK);
  expect(await sendOne({ makingMs: 0, awayMs: 10_000 })).toEqual(PUT_BACK);
  expect(await sendOne({ makingMs: 0, awayMs: 10_000, isOurs: () => false })).toEqual(PUT_BACK);
});
