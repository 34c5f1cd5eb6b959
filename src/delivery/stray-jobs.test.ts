import { expect, test } from "bun:test";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import type { ClaimedJob } from "../core/queue/claimed-job.ts";
import type { Route } from "../core/records/accounts.ts";
import type { ReleasedJob } from "../store/store.ts";
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
  const release = Promise.withResolvers<readonly ReleasedJob[]>();
  const stored = new Map<string, Route>();
  let jobs: readonly Partial<ClaimedJob>[] = [];
  const strays = createStrayJobs({
    queue: {
      backlog: async () => queues.map((queue) => ({ queue, ready: 1 })),
      async claim({ queue }) {
        claims.push(queue);
        return jobs as readonly ClaimedJob[];
      },
      release: async (all) => release.resolve(all),
    },
    records: { find: (async (_: string, { id }: { id: string }) => stored.get(id)) as never },
    clock,
    log: { warn: () => {} },
    builtIn: { routes: [SANDBOX] },
  });
  const stopping = new AbortController();
  return {
    ...{ clock, claims, stored, strays },
    released: release.promise,
    queued: (all: readonly Partial<ClaimedJob>[]) => {
      jobs = all;
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

test("its jobs go where they are led to now, each by its own recipient; others stay", async () => {
  const { strays, clock, released, queued, start, stop } = open();
  const india = route("india", "91");
  strays.reconcile([SANDBOX, ONE, india]);
  start();
  await clock.advance(0);
  strays.reconcile([SANDBOX, india]);
  queued([sms(1, "+919876543210"), sms(2, "+14155550901")]);
  await clock.advance(1_000);
  expect(await released).toEqual([
    { jobId: 1, claim: 1, queue: "india" },
    { jobId: 2, claim: 1 },
  ]);
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
