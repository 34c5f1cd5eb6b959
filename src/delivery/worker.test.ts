import { expect, test } from "bun:test";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import type { Channel } from "../channels/channel.ts";
import type { Clock } from "../core/clock.ts";
import { type Claimant, NOBODY_ELSE, NOT_YET } from "../core/queue/claimant.ts";
import type { ClaimedJob, ClaimRequest } from "../core/queue/claimed-job.ts";
import type { Route } from "../core/records/accounts.ts";
import type { Queue } from "../store/store.ts";
import type { JobLease } from "./attempt.ts";
import { createHealth } from "./outlets/health.ts";
import { createLargeLimit } from "./outlets/large-limit.ts";
import { createOutlet, type Outlet } from "./outlets/outlet.ts";
import { createThrottle } from "./outlets/throttle.ts";
import { createWorker } from "./worker.ts";

interface Options {
  /** Free slots of the first connector; the second has none. */
  readonly free?: number;
  readonly jobs?: number;
  readonly perSecond?: number;
}

/**
 * A worker on a queue with so many jobs, whose route names two of three connectors. Claims are answered, and messages sent, when
 * the test says so.
 */
function open({ free = 1, jobs = 0, perSecond }: Options = {}) {
  const clock = createHeldClock();
  const slots = { free };
  const outlets = [
    openOutlet(clock, { id: "first", sendTimeoutMs: 20_000, freeSlots: () => slots.free, perSecond }),
    openOutlet(clock, { id: "second", sendTimeoutMs: 50_000, freeSlots: () => 0 }),
  ];
  const unnamed = openOutlet(clock, { id: "unnamed", sendTimeoutMs: 90_000, freeSlots: () => 0 });
  const route: Route = {
    id: "q",
    channel: "sms",
    match: "",
    createdAt: 0,
    connectorIds: outlets.map(({ channel }) => channel.connectorId),
    failover: "always",
  };
  const queue = openQueue(jobs);
  const inLine = new Set<() => void>();
  const leases: JobLease[] = [];
  const sending: (() => void)[] = [];
  const works: WeakRef<Promise<void>>[] = [];
  let claimant: Claimant = NOBODY_ELSE;
  const worker = createWorker({
    route: () => route,
    queue: { claim: queue.claim } as Queue,
    clock,
    outletOf: (id) => outlets.find(({ channel }) => channel.connectorId === id),
    allOutlets: () => [...outlets, unnamed],
    send(_, lease) {
      leases.push(lease);
      const work = new Promise<void>((resolve) => sending.push(resolve));
      works.push(new WeakRef(work));
      return work;
    },
    line: { join: (wake) => inLine.add(wake), leave: (wake) => inLine.delete(wake), call() {} },
    claimant: () => claimant,
    log: { isDebug: () => false, debug() {}, info() {}, warn() {}, error() {} },
  });
  return {
    clock,
    slots,
    outlets,
    queue,
    inLine,
    leases,
    sending,
    works,
    worker,
    claimFor: (next: Claimant) => {
      claimant = next;
    },
  };
}

interface Way {
  readonly id: string;
  readonly sendTimeoutMs: number;
  readonly freeSlots: () => number;
  readonly perSecond?: number | undefined;
}

function openOutlet(clock: Clock, { id, sendTimeoutMs, freeSlots, perSecond }: Way): Outlet {
  const channel = {
    connectorId: id,
    sendTimeoutMs,
    freeSlots,
    status: () => ({ state: "up", since: 0 }),
  } as unknown as Channel;
  return createOutlet(channel, {
    clock,
    throttle: createThrottle(clock, perSecond),
    health: createHealth(clock, { keepsRate: false, reachesMany: false }),
    largeLimit: createLargeLimit(clock, 1),
    onSlots() {},
    isElsewhere: () => false,
  });
}

function openQueue(jobs: number) {
  const asked: ClaimRequest[] = [];
  const answers: { readonly give: () => void; readonly fail: () => void }[] = [];
  let left = jobs;
  return {
    asked,
    claim(request: ClaimRequest): Promise<readonly ClaimedJob[]> {
      asked.push(request);
      return new Promise((resolve, reject) => {
        const give = () => {
          const count = Math.min(left, request.limit);
          left -= count;
          resolve(Array.from({ length: count }, (_, jobId) => ({ jobId }) as ClaimedJob));
        };
        answers.push({ give, fail: () => reject(new Error("away")) });
      });
    },
    /** Answers the claim under way. */
    answer: () => answers.shift()?.give(),
    fail: () => answers.shift()?.fail(),
  };
}

test("a worker goes on claiming while the queue gives all that was asked for, and not beyond", async () => {
  const { clock, queue, worker } = open({ free: 1_200, jobs: 1_100 });
  worker.wake();
  for (let claim = 0; claim < 5; claim++) {
    queue.answer();
    await clock.advance(0);
  }
  expect(queue.asked.map(({ limit }) => limit)).toEqual([500, 500, 200]);
});

test("nothing is claimed while it is not known whether others have taken over, and then it is, though nobody wakes it", async () => {
  const { clock, queue, worker, claimFor } = open({ free: 1, jobs: 1 });
  claimFor(NOT_YET);
  worker.wake();
  await clock.advance(5_000);
  expect(queue.asked).toEqual([]);
  claimFor({ ...NOBODY_ELSE, process: "p1" });
  await clock.advance(1_000);
  expect(queue.asked).toMatchObject([{ process: "p1" }]);
});

test("what is claimed for fewer jobs than slots, or fails, takes up no slot", async () => {
  const { clock, queue, outlets, worker } = open({ free: 10, jobs: 1 });
  worker.wake();
  expect(outlets[0]?.available()).toBe(0);
  queue.answer();
  await clock.advance(0);
  expect(outlets[0]?.available()).toBe(9);
  worker.wake();
  queue.fail();
  await clock.advance(0);
  expect(outlets[0]?.available()).toBe(9);
});

test("whenever it is woken during a turn, another follows without a pause", async () => {
  for (let later = 0; later < 12; later++) {
    const { clock, queue, worker } = open();
    worker.wake();
    queue.answer();
    for (let step = 0; step < later; step++) await Promise.resolve();
    worker.wake();
    await clock.advance(0);
    expect(queue.asked).toHaveLength(2);
  }
});

test("a worker that nobody wakes looks once a second, however often it was woken before", async () => {
  const { clock, queue, worker } = open();
  for (let turn = 0; turn < 10; turn++) {
    worker.wake();
    queue.answer();
    await clock.advance(0);
  }
  expect(clock.pending()).toBe(1);
  await clock.advance(999);
  expect(queue.asked).toHaveLength(10);
  await clock.advance(1);
  expect(queue.asked).toHaveLength(11);
  expect(worker.lastLookMs()).toBe(1_000);
});

test("a worker that finds more jobs at every look is at work, however long that goes on", async () => {
  const { clock, queue, worker } = open({ free: 100_000, jobs: 100_000 });
  worker.wake();
  for (let second = 0; second < 20; second++) {
    await clock.advance(1_000);
    queue.answer();
    await clock.advance(0);
  }
  expect(queue.asked).toHaveLength(21);
  expect(worker.lastLookMs()).toBe(20_000);
});

test("where a rate is in the way it looks again as soon as that allows a message, though another connector has none", async () => {
  const { clock, queue, outlets, worker } = open({ free: 10, perSecond: 4 });
  outlets[0]?.reserve(5);
  for (let count = 0; count < 5; count++) outlets[0]?.handOver({ channel: "sms" } as never);
  worker.wake();
  await clock.advance(0);
  await clock.advance(1_009);
  expect(queue.asked).toEqual([]);
  await clock.advance(1);
  expect(queue.asked).toHaveLength(1);
});

test("a lease outlasts the slowest connector, also one that the route does not name, counted from before the claim", async () => {
  const { clock, queue, leases, worker } = open({ jobs: 1 });
  worker.wake();
  expect(queue.asked[0]?.leaseMs).toBeGreaterThan(90_000 + 5_000);
  await clock.advance(3_000);
  queue.answer();
  await clock.advance(0);
  expect(leases.map(({ leaseEndsMs }) => leaseEndsMs)).toEqual([queue.asked[0]?.leaseMs ?? 0]);
  expect(leases[0]).toMatchObject({ failoverMode: "always" });
});

test("each claim is made for whom the process claims then, and asks nobody else whether it still holds", async () => {
  const { queue, leases, worker, clock, claimFor } = open({ free: 1, jobs: 1 });
  const isOurs = () => false;
  claimFor({ process: "a", isOurs });
  worker.wake();
  claimFor({ process: "b", isOurs: () => true });
  queue.answer();
  await clock.advance(0);
  expect(queue.asked[0]?.process).toBe("a");
  expect(leases[0]?.isOurs).toBe(isOurs);
});

test("what is being sent is in flight until it has ended", async () => {
  const { clock, queue, sending, worker } = open({ jobs: 1 });
  worker.wake();
  queue.answer();
  await clock.advance(0);
  expect(worker.inFlight()).toEqual([0]);
  sending[0]?.();
  await clock.advance(0);
  expect(worker.inFlight()).toEqual([]);
});

test("of messages that have been sent nothing is kept", async () => {
  const { clock, queue, sending, works, worker } = open({ free: 500, jobs: 500 });
  worker.wake();
  queue.answer();
  await clock.advance(0);
  for (const end of sending.splice(0)) end();
  await clock.advance(0);
  Bun.gc(true);
  expect(works).toHaveLength(500);
  expect(works.filter((work) => work.deref()).length).toBeLessThan(50);
});

test("a worker that finds no slot stands in line, until it has claimed for one", async () => {
  const { inLine, slots, worker, clock } = open({ free: 0 });
  worker.wake();
  await clock.advance(0);
  expect(inLine.size).toBe(1);
  slots.free = 1;
  worker.wake();
  expect(inLine.size).toBe(0);
});

test("a stop waits for the claim under way and for what it brought, and leaves no timer and no place in the line", async () => {
  const { clock, queue, inLine, slots, sending, worker } = open({ jobs: 5 });
  const done: string[] = [];
  worker.wake();
  void worker.stop().then(() => done.push("stopped"));
  await clock.advance(0);
  queue.answer();
  await clock.advance(5_000);
  expect([queue.asked.length, sending.length, done]).toEqual([1, 1, []]);
  sending[0]?.();
  await clock.advance(0);
  expect(done).toEqual(["stopped"]);
  slots.free = 2;
  worker.wake();
  await clock.advance(5_000);
  expect(queue.asked).toHaveLength(1);

  const idle = open({ free: 0 });
  idle.worker.wake();
  await idle.clock.advance(0);
  await idle.worker.stop();
  expect([inLine.size, idle.inLine.size, clock.pending(), idle.clock.pending()]).toEqual([0, 0, 0, 0]);
});
