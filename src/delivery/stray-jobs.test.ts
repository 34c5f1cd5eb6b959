import { expect, test } from "bun:test";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { email } from "../../test/progress-samples.ts";
import type { JobInLine } from "../core/queue/claimed-job.ts";
import type { Route } from "../core/records/accounts.ts";
import { type MovedJob, StoreUnavailable } from "../store/store.ts";
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
  const looks: string[] = [];
  const moved: MovedJob[] = [];
  const stored = new Map<string, Route>();
  const connectors = new Set<string>();
  const warned: unknown[] = [];
  let line: Partial<JobInLine>[] = [];
  let awayUntilMs = 0;
  let onLook: ((count: number) => void) | undefined;
  const strays = createStrayJobs({
    queue: {
      backlog: async () => queues.map((queue) => ({ queue, ready: queue === "empty" ? 0 : 1 })),
      async inLine(queue, { after, limit }) {
        looks.push(queue);
        onLook?.(looks.length);
        return line.filter(({ jobId = 0 }) => jobId > (after?.jobId ?? -1)).slice(0, limit) as JobInLine[];
      },
      async move(jobs) {
        if (clock.monotonicMs() < awayUntilMs) throw new StoreUnavailable("away");
        moved.push(...jobs);
        line = line.filter(({ jobId }) => !jobs.some((job) => job.jobId === jobId));
      },
    },
    records: {
      find: (async (kind: string, { id }: { id: string }) =>
        kind === "routes" ? stored.get(id) : connectors.has(id) || undefined) as never,
    },
    clock,
    log: { warn: (fields) => void warned.push(fields) },
    builtIn: { routes: [SANDBOX] },
  });
  const stopping = new AbortController();
  return {
    clock,
    connectors,
    warned,
    looks,
    moved,
    stored,
    strays,
    /** Called at each look, with how many there were. */
    looking: (next: (count: number) => void) => {
      onLook = next;
    },
    queued: (...all: readonly Partial<JobInLine>[]) => {
      line = [...line, ...all].toSorted((one, other) => (one.jobId ?? 0) - (other.jobId ?? 0));
    },
    /** Nothing can be moved for so long. */
    away: (ms: number) => {
      awayUntilMs = clock.monotonicMs() + ms;
    },
    start: () => void strays.run(stopping.signal),
    stop: () => stopping.abort(),
  };
}

const sms = (jobId: number, recipient: string): Partial<JobInLine> => ({
  jobId,
  claim: 1,
  accountId: "a",
  recipient,
  content: { channel: "sms" },
});

test("the queue of a route that has gone is looked at each second, for half a minute", async () => {
  const { strays, clock, looks, start, stop } = open();
  strays.reconcile([ONE, ALL]);
  start();
  await clock.advance(1_000);
  expect(looks).toEqual([]);
  strays.reconcile([ALL]);
  await clock.advance(3_000);
  expect(looks).toEqual(["one", "one", "one"]);
  await clock.advance(60_000);
  expect(looks).toHaveLength(30);
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
  const { clock, moved, queued, stop } = await openGone();
  queued(sms(1, "+919876543210"), sms(2, "+14155550901"));
  await clock.advance(1_000);
  expect(moved).toEqual([{ jobId: 1, claim: 1, queue: "india" }]);
  stop();
});

const staying = (count: number) =>
  Array.from({ length: count }, (_, index) => sms(index + 1, "+14155550901"));

test("however many stay, those behind them are moved, in rounds of a second's work", async () => {
  const { clock, looks, moved, queued, stop } = await openGone();
  queued(...staying(2_100), sms(2_101, "+919876543210"));
  await clock.advance(1_000);
  expect([looks.length, moved.length]).toEqual([10, 0]);
  await clock.advance(1_000);
  expect([looks.length, moved.length]).toEqual([11, 1]);
  queued(sms(0, "+919876543210"));
  await clock.advance(1_000);
  expect(moved.map(({ jobId }) => jobId)).toEqual([2_101, 0]);
  stop();
});

test("nothing more is looked at once it stops", async () => {
  const { clock, looks, queued, looking, stop } = await openGone();
  queued(...staying(600));
  looking(stop);
  await clock.advance(5_000);
  expect(looks).toHaveLength(1);
});

test("it goes by what a message is routed by when it is accepted", async () => {
  const mail = (id: string, match: string) => ({ ...route(id, match), channel: "email" as const });
  const { clock, moved, queued, stop } = await openGone(
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
  const led = Object.fromEntries(moved.map(({ jobId, queue }) => [jobId, queue]));
  expect(led).toEqual({
    1: "of-acme",
    2: "promotional",
    4: "of-bob",
    6: "from-shop",
  });
  stop();
});

test("what could not be moved, since the database was away, is moved when it answers again", async () => {
  const { clock, moved, queued, away, stop } = await openGone();
  queued(sms(1, "+919876543210"));
  away(5_000);
  await clock.advance(4_000);
  expect(moved).toEqual([]);
  await clock.advance(2_000);
  expect(moved.map(({ jobId }) => jobId)).toEqual([1]);
  stop();
});

test("at the start, and once a minute, every queue with jobs and without a route is looked at, unless its route is new", async () => {
  const { strays, clock, looks, stored, start, stop } = open(["one", "new", "empty", "gone", "sandbox:sms"]);
  strays.reconcile([SANDBOX, ONE]);
  stored.set("new", route("new", ""));
  start();
  await clock.advance(0);
  expect(looks).toEqual(["gone"]);
  await clock.advance(59_000);
  expect(looks).toEqual(["gone"]);
  await clock.advance(1_000);
  expect(looks).toEqual(["gone", "gone"]);
  stop();
});

test("where a look has stopped in a queue is forgotten once that is empty: what comes later is in front of it", async () => {
  const queues = ["gone"];
  const { strays, clock, moved, queued, start, stop } = open(queues);
  strays.reconcile([route("india", "91")]);
  queued(...staying(2_100));
  start();
  await clock.advance(1_000);
  queues.pop();
  await clock.advance(60_000);
  queues.push("gone");
  queued(sms(0, "+919876543210"));
  await clock.advance(60_000);
  expect(moved.map(({ jobId }) => jobId)).toEqual([0]);
  stop();
});

test("what waits in a connector's own queue goes back to a route, of which only that of a deleted one is news", async () => {
  const { strays, clock, connectors, moved, queued, warned, start, stop } = open(["c"]);
  connectors.add("c");
  strays.reconcile([route("india", "91")]);
  queued(sms(1, "+919876543210"), sms(2, "+14155550901"));
  start();
  await clock.advance(0);
  expect([moved, warned]).toEqual([[{ jobId: 1, claim: 1, queue: "india" }], []]);
  connectors.delete("c");
  queued(sms(3, "+919876543211"));
  await clock.advance(60_000);
  expect(warned).toEqual([{ route: "c", moved: 1, waiting: 1 }]);
  stop();
});
