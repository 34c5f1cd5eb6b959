import { expect, test } from "bun:test";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { email, sms as progressOfSms } from "../../test/progress-samples.ts";
import type { JobInLine } from "../core/queue/claimed-job.ts";
import type { Route } from "../core/records/accounts.ts";
import { type MovedJob, StoreUnavailable } from "../store/store.ts";
import { createRouteOfJob } from "./job-routes.ts";
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
  /** Connectors, and whether they are up. */
  const connectors = new Map<string, boolean>();
  const warned: unknown[] = [];
  const woken: string[] = [];
  let current: readonly Route[] = [];
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
    records: { find: (async (_: string, { id }: { id: string }) => stored.get(id)) as never },
    clock,
    log: { warn: (fields) => void warned.push(fields) },
    routeOf: createRouteOfJob(() => current, [SANDBOX]),
    outletOf: (id) => (connectors.has(id) ? { isUp: () => connectors.get(id) === true } : undefined),
    wake: (queue) => void woken.push(queue),
  });
  const stopping = new AbortController();
  return {
    clock,
    connectors,
    warned,
    woken,
    looks,
    moved,
    stored,
    reconcile(routes: readonly Route[]) {
      current = routes;
      strays.reconcile(routes);
    },
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
  messageId: `m${jobId}`,
  accountId: "a",
  recipient,
  content: { channel: "sms" },
  progress: progressOfSms(),
});

test("the queue of a route that has gone is looked at each second, for half a minute", async () => {
  const { reconcile, clock, looks, start, stop } = open();
  reconcile([ONE, ALL]);
  start();
  await clock.advance(1_000);
  expect(looks).toEqual([]);
  reconcile([ALL]);
  await clock.advance(3_000);
  expect(looks).toEqual(["one", "one", "one"]);
  await clock.advance(60_000);
  expect(looks).toHaveLength(30);
  stop();
});

/** The queue of a route has just gone; another one leads to India, unless others are named. */
async function openGone(...others: readonly Route[]) {
  const opened = open();
  const { reconcile, clock, start } = opened;
  const left = [SANDBOX, ...(others.length > 0 ? others : [route("india", "91")])];
  reconcile([ONE, ...left]);
  start();
  await clock.advance(0);
  reconcile(left);
  return opened;
}

test("the jobs of a route that has gone go where they are led to now, each by its own recipient; others stay", async () => {
  const { clock, moved, queued, stop } = await openGone();
  queued(sms(1, "+919876543210"), sms(2, "+14155550901"));
  await clock.advance(1_000);
  expect(moved).toEqual([{ jobId: 1, claim: 1, messageId: "m1", queue: "india" }]);
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

test("a job of a route that has gone goes by what a message is routed by when it is accepted", async () => {
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
  const { reconcile, clock, looks, stored, start, stop } = open([
    "one",
    "new",
    "empty",
    "gone",
    "sandbox:sms",
  ]);
  reconcile([SANDBOX, ONE]);
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
  const { reconcile, clock, moved, queued, start, stop } = open(queues);
  reconcile([route("india", "91")]);
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

/** One segment was taken by the connector, or may have been. */
const halfSent = (jobId: number, recipient: string, status: "sent" | "unconfirmed" = "sent") => ({
  ...sms(jobId, recipient),
  progress: progressOfSms({ parts: [{ status, connectorId: "c" }, { status: "pending" }] }),
});

test("what waits in a connector's own queue goes back to a route once that is down or gone, which is no news", async () => {
  const { reconcile, clock, connectors, moved, queued, warned, start, stop } = open(["c"]);
  connectors.set("c", false);
  reconcile([route("india", "91")]);
  queued(halfSent(1, "+919876543210"), halfSent(2, "+14155550901"));
  start();
  await clock.advance(0);
  expect(moved).toEqual([{ jobId: 1, claim: 1, messageId: "m1", queue: "india" }]);
  connectors.delete("c");
  queued(halfSent(3, "+919876543211"));
  await clock.advance(60_000);
  expect(moved.map(({ jobId }) => jobId)).toEqual([1, 3]);
  expect(warned).toEqual([]);
  stop();
});

test("while that is up, its worker is woken, and only what others may send too goes back", async () => {
  const { reconcile, clock, connectors, moved, queued, woken, start, stop } = open(["c"]);
  connectors.set("c", true);
  reconcile([route("india", "91"), { ...route("always", "1415"), failover: "always" }]);
  const [india, always] = ["+919876543210", "+14155550901"];
  queued(halfSent(1, india), halfSent(2, india, "unconfirmed"), sms(3, india));
  queued(halfSent(4, always), halfSent(5, always, "unconfirmed"));
  start();
  await clock.advance(0);
  expect(moved.map(({ jobId, queue }) => [jobId, queue])).toEqual([
    [3, "india"],
    [5, "always"],
  ]);
  expect(woken).toEqual(["c"]);
  stop();
});

test("what waits there since others of its route can never send it is asked about again, which is no news", async () => {
  const { reconcile, clock, connectors, moved, queued, warned, start, stop } = open(["c"]);
  connectors.set("c", true);
  reconcile([route("india", "91")]);
  queued(sms(1, "+919876543210"));
  start();
  await clock.advance(0);
  expect(moved).toEqual([{ jobId: 1, claim: 1, messageId: "m1", queue: "india" }]);
  expect(warned).toEqual([]);
  stop();
});
