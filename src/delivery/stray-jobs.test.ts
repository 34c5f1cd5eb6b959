import { expect, test } from "bun:test";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import type { ClaimedJob } from "../core/queue/claimed-job.ts";
import type { Route } from "../core/records/accounts.ts";
import { type ReleasedJob, StoreUnavailable } from "../store/store.ts";
import { createStrayJobs } from "./stray-jobs.ts";

const route = (id: string, match: string): Route => ({
  ...{ id, match, channel: "sms", connectorIds: ["c"], createdAt: 0 },
});
const ONE = route("one", "1415");
const ALL = route("all", "");
const SANDBOX = route("sandbox:sms", "");

function open(queues: readonly string[] = []) {
  const clock = createHeldClock();
  const claims: string[] = [];
  const released: ReleasedJob[] = [];
  const stored = new Map<string, Route>();
  const jobs: Partial<ClaimedJob>[] = [];
  let awayUntilMs = 0;
  const strays = createStrayJobs({
    queue: {
      backlog: async () => queues.map((queue) => ({ queue, ready: 1 })),
      async claim({ queue, limit }) {
        claims.push(queue);
        return jobs.splice(0, limit) as ClaimedJob[];
      },
      async release(all) {
        if (clock.monotonicMs() < awayUntilMs) throw new StoreUnavailable("away");
        released.push(...all);
      },
    },
    records: { find: (async (_: string, { id }: { id: string }) => stored.get(id)) as never },
    clock,
    log: { warn: () => {} },
    builtIn: { routes: [SANDBOX] },
  });
  const stopping = new AbortController();
  return {
    ...{ clock, claims, released, stored, strays },
    queued: (...all: readonly Partial<ClaimedJob>[]) => void jobs.push(...all),
    /** Nothing can be put back for so long. */
    away: (ms: number) => {
      awayUntilMs = clock.monotonicMs() + ms;
    },
    start: () => void strays.run(stopping.signal),
    stop: () => stopping.abort(),
  };
}

const sms = (jobId: number, recipient: string): Partial<ClaimedJob> => ({
  ...{ jobId, claim: 1, accountId: "a", recipient, content: { channel: "sms" } },
});

test("the queue of a route that has gone is looked at each second, for half a minute", async () => {
  const { strays, clock, claims, start, stop } = open();
  strays.reconcile([ONE, ALL]);
  start();
  await clock.advance(1_000);
  expect(claims).toEqual([]);
  strays.reconcile([ALL]);
  await clock.advance(3_000);
  expect(claims).toEqual(["one", "one", "one"]);
  await clock.advance(60_000);
  expect(claims).toHaveLength(30);
  stop();
});

/** The queue of a route has just gone, and another route leads to India. */
async function openGone() {
  const opened = open();
  const { strays, clock, start } = opened;
  const india = route("india", "91");
  strays.reconcile([SANDBOX, ONE, india]);
  start();
  await clock.advance(0);
  strays.reconcile([SANDBOX, india]);
  return opened;
}

test("its jobs go where they are led to now, each by its own recipient; others stay", async () => {
  const { clock, released, queued, stop } = await openGone();
  queued(sms(1, "+919876543210"), sms(2, "+14155550901"));
  await clock.advance(1_000);
  expect(released).toEqual([
    { jobId: 1, claim: 1, queue: "india" },
    { jobId: 2, claim: 1 },
  ]);
  stop();
});

test("however many stay, those behind them are moved, and each is put back once", async () => {
  const { clock, released, queued, stop } = await openGone();
  const stay = Array.from({ length: 600 }, (_, index) => sms(index, "+14155550901"));
  queued(...stay, sms(600, "+919876543210"));
  await clock.advance(1_000);
  expect(released.filter(({ queue }) => queue === "india").map(({ jobId }) => jobId)).toEqual([600]);
  expect(new Set(released.map(({ jobId }) => jobId)).size).toBe(601);
  expect(released).toHaveLength(601);
  stop();
});

test("what was claimed when the database went away is put back when it answers again", async () => {
  const { clock, released, queued, away, stop } = await openGone();
  queued(sms(1, "+919876543210"), sms(2, "+14155550901"));
  away(5_000);
  await clock.advance(4_000);
  expect(released).toEqual([]);
  await clock.advance(2_000);
  expect(released.map(({ jobId }) => jobId)).toEqual([1, 2]);
  stop();
});

test("at the start, and once a minute, every queue with jobs and without a route is looked at, unless its route is new", async () => {
  const { strays, clock, claims, stored, start, stop } = open(["one", "new", "gone", "sandbox:sms"]);
  strays.reconcile([SANDBOX, ONE]);
  stored.set("new", route("new", ""));
  start();
  await clock.advance(0);
  expect(claims).toEqual(["gone"]);
  await clock.advance(59_000);
  expect(claims).toEqual(["gone"]);
  await clock.advance(1_000);
  expect(claims).toEqual(["gone", "gone"]);
  stop();
});
