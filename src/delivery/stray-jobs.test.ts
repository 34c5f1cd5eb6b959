import { expect, test } from "bun:test";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { email } from "../../test/progress-samples.ts";
import type { ClaimedJob } from "../core/queue/claimed-job.ts";
import type { Route } from "../core/records/accounts.ts";
import { type ReleasedJob, StoreUnavailable } from "../store/store.ts";
import { createStrayJobs } from "./stray-jobs.ts";

const route = (id: string, match: string): Route => ({
  id,
  match,
  channel: "sms",
  connectorIds: ["c"],
  createdAt: 0,
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
  const processes = new Set<string | undefined>();
  let awayUntilMs = 0;
  let onClaim: ((count: number) => void) | undefined;
  const strays = createStrayJobs({
    queue: {
      backlog: async () => queues.map((queue) => ({ queue, ready: queue === "empty" ? 0 : 1 })),
      async claim({ queue, limit, process }) {
        claims.push(queue);
        processes.add(process);
        await onClaim?.(claims.length);
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
    shares: { claimant: () => ({ process: "this", isOurs: () => true }) },
    builtIn: { routes: [SANDBOX] },
  });
  const stopping = new AbortController();
  return {
    clock,
    claims,
    processes,
    released,
    stored,
    strays,
    /** Called at each claim, with how many there were. */
    claiming: (next: (count: number) => void) => {
      onClaim = next;
    },
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
  jobId,
  claim: 1,
  accountId: "a",
  recipient,
  content: { channel: "sms" },
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

/** The queue of a route has just gone; another one leads to India, unless others are named. */
async function openGone(...others: readonly Route[]) {
  const opened = open();
  const { strays, clock, start } = opened;
  const left = [SANDBOX, ...(others.length > 0 ? others : [route("india", "91")])];
  strays.reconcile([ONE, ...left]);
  start();
  await clock.advance(0);
  strays.reconcile(left);
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

test("those that stay are put back also where the next claim fails, and nothing is claimed once it stops", async () => {
  const stay = Array.from({ length: 600 }, (_, index) => sms(index, "+14155550901"));
  const failing = await openGone();
  failing.queued(...stay);
  failing.claiming((count) => {
    if (count === 2) throw new Error("broken");
  });
  await failing.clock.advance(1_000);
  expect(failing.released).toHaveLength(200);
  failing.stop();

  const stopping = await openGone();
  stopping.queued(...stay);
  stopping.claiming(() => stopping.stop());
  await stopping.clock.advance(5_000);
  expect([stopping.claims.length, stopping.released.length]).toEqual([1, 200]);
});

test("no more are held at a time than a second's work", async () => {
  const { clock, claims, released, queued, stop } = await openGone();
  queued(...Array.from({ length: 2_100 }, (_, index) => sms(index, "+14155550901")));
  await clock.advance(1_000);
  expect([claims.length, released.length]).toEqual([10, 2_000]);
  stop();
});

test("it goes by what a message is routed by when it is accepted", async () => {
  const mail = (id: string, match: string) => ({ ...route(id, match), channel: "email" as const });
  const { clock, released, queued, stop } = await openGone(
    { ...route("of-acme", ""), sender: "ACME" },
    { ...route("promotional", ""), category: "promotional" },
    mail("of-bob", "bob.example"),
    { ...mail("from-shop", ""), sender: "shop.example" },
  );
  const text = { ...sms(0, "+14155550901"), content: { channel: "sms" as const, from: "OTHER" } };
  const from = (email: string) => ({
    content: { channel: "email" as const, from: { email }, to: [], subject: "" },
  });
  const progress = email("ann@ann.example", "bob@bob.example");
  queued(
    { ...text, jobId: 1, content: { ...text.content, resolved: { from: "ACME" } } },
    { ...text, jobId: 2, content: { ...text.content, category: "promotional" } },
    { ...text, jobId: 3 },
    { ...sms(4, ""), ...from("a@acme.example"), progress, parts: [1] },
    { ...sms(5, ""), ...from("a@acme.example"), progress, parts: [0] },
    { ...sms(6, ""), ...from("a@shop.example"), progress },
  );
  await clock.advance(1_000);
  const led = Object.fromEntries(released.map(({ jobId, queue }) => [jobId, queue]));
  expect(led).toEqual({
    1: "of-acme",
    2: "promotional",
    3: undefined,
    4: "of-bob",
    5: undefined,
    6: "from-shop",
  });
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
  const { strays, clock, claims, processes, stored, start, stop } = open([
    "one",
    "new",
    "empty",
    "gone",
    "sandbox:sms",
  ]);
  strays.reconcile([SANDBOX, ONE]);
  stored.set("new", route("new", ""));
  start();
  await clock.advance(0);
  expect(claims).toEqual(["gone"]);
  await clock.advance(59_000);
  expect(claims).toEqual(["gone"]);
  await clock.advance(1_000);
  expect(claims).toEqual(["gone", "gone"]);
  expect([...processes]).toEqual(["this"]);
  stop();
});
