import { expect, test } from "bun:test";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { type Claimant, NOBODY_ELSE, NOT_YET } from "../core/queue/claimant.ts";
import type { ClaimedWebhook, Lane } from "../core/webhooks/webhook-outbox.ts";
import type { WebhookClaim } from "../store/store.ts";
import type { WebhookLease } from "./deliver-event.ts";
import type { HostHealth } from "./judge.ts";
import { createLaneQueue } from "./lanes/lane-queue.ts";
import { createLanes, type Permit } from "./lanes/lanes.ts";
import { createWorker } from "./worker.ts";

const HEALTHY = { kind: "healthy" } as const;

/** A worker over lines of events that are only counted, whose deliveries end when they are told to. */
function open({ urlOf = (_id: number): string => "" } = {}) {
  const clock = createHeldClock();
  const lines = new Map<string, number>();
  const claims: WebhookClaim[] = [];
  const underWay: {
    host: string;
    url: string;
    permit: Permit;
    lease: WebhookLease;
    end: (ms?: number, health?: HostHealth) => void;
  }[] = [];
  const putBack: number[] = [];
  let claimant: Claimant = { ...NOBODY_ELSE, process: "p1" };
  let failure: Error | undefined;
  let answered: Promise<void> | undefined;
  let errors = 0;
  let id = 0;
  const queue = createLaneQueue();
  const lanes = createLanes({
    clock,
    random: () => 0.5,
    onRoom(lane) {
      queue.addRoom(lane);
      worker.wake();
    },
  });
  const claim = async (request: WebhookClaim) => {
    claims.push(request);
    if (failure) throw failure;
    await answered;
    return request.lanes.flatMap(({ lane, limit }) => take(lane, limit));
  };
  const take = (lane: Lane, limit: number): ClaimedWebhook[] => {
    const left = lines.get(lane.host) ?? 0;
    const count = Math.min(left, limit);
    lines.set(lane.host, left - count);
    const event = { claim: 1, messageId: "m", sequence: 1, lane, failures: 0, body: "" };
    return Array.from({ length: count }, () => ({ ...event, id: ++id, url: urlOf(id) }));
  };
  const worker = createWorker({
    outbox: { claim },
    queue,
    lanes,
    putBack: async ({ id }) => void putBack.push(id),
    claimant: () => claimant,
    clock,
    onError: () => void errors++,
    deliverEvent: ({ lane, url }, permit, lease) =>
      new Promise((resolve) => {
        const end = (ms = 5, health: HostHealth = HEALTHY) => {
          underWay.splice(underWay.indexOf(delivery), 1);
          permit.release(health, ms, url);
          resolve();
        };
        const delivery = { host: lane.host, url, permit, lease, end };
        underWay.push(delivery);
      }),
  });
  return {
    clock,
    claims,
    putBack,
    underWay,
    worker,
    lanes,
    errors: () => errors,
    claimFor(next: Claimant) {
      claimant = next;
    },
    fail(error: Error | undefined) {
      failure = error;
    },
    /** Claims wait for it, until it is called. */
    holdClaims() {
      const { promise, resolve } = Promise.withResolvers<void>();
      answered = promise;
      return resolve;
    },
    async ring(host: string, count: number, more: readonly string[] = []) {
      for (const each of [host, ...more]) {
        lines.set(each, (lines.get(each) ?? 0) + count);
        queue.add({ accountId: "a", host: each });
      }
      worker.wake();
      await settled();
    },
  };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

async function endAll(rig: ReturnType<typeof open>): Promise<number> {
  let ended = 0;
  while (rig.underWay.length > 0) {
    for (const { end } of [...rig.underWay]) {
      end();
      ended++;
    }
    await settled();
  }
  return ended;
}

test("no more is claimed than there is room for, and in the end everything is delivered", async () => {
  const rig = open();
  await rig.ring("h", 500);
  expect(rig.underWay).toHaveLength(1);
  expect(await endAll(rig)).toBe(500);
  for (const { lanes } of rig.claims) for (const { limit } of lanes) expect(limit).toBeLessThanOrEqual(64);
  expect(rig.lanes.underWay()).toBe(0);
});

test("nothing is claimed while it is not known whether others have taken over, and then it is, though nobody wakes it", async () => {
  const rig = open();
  rig.claimFor(NOT_YET);
  await rig.ring("h", 1);
  await rig.clock.advance(5_000);
  expect(rig.claims).toEqual([]);
  rig.claimFor(NOBODY_ELSE);
  await rig.clock.advance(1_000);
  expect(await endAll(rig)).toBe(1);
});

test("an empty line is asked for once", async () => {
  const rig = open();
  await rig.ring("h", 0);
  expect(rig.claims).toHaveLength(1);
  rig.worker.wake();
  await settled();
  expect(rig.claims).toHaveLength(1);
});

test("a claim that fails gives its room back, and is made again a second later", async () => {
  const rig = open();
  rig.fail(new Error("disk full"));
  await rig.ring("h", 1);
  expect([rig.errors(), rig.claims.length, rig.lanes.underWay()]).toEqual([1, 1, 0]);
  rig.fail(undefined);
  await rig.clock.advance(999);
  expect(rig.claims).toHaveLength(1);
  await rig.clock.advance(1);
  await settled();
  expect(rig.underWay).toHaveLength(1);
  await endAll(rig);
});

test("after stop nothing is claimed, and it resolves when what is under way has ended", async () => {
  const rig = open();
  await rig.ring("h", 10);
  let isStopped = false;
  const stopping = rig.worker.stop().then(() => {
    isStopped = true;
  });
  await settled();
  expect(isStopped).toBe(false);
  const claims = rig.claims.length;
  await endAll(rig);
  await stopping;
  expect(rig.claims).toHaveLength(claims);
});

test("a claim is of 256 events at the most, and others follow while there is room", async () => {
  const rig = open();
  const more = Array.from({ length: 299 }, (_, index) => `host-${index}`);
  await rig.ring("h", 1, more);
  expect(rig.claims.map(({ lanes }) => lanes.length)).toEqual([256, 44]);
  expect(rig.underWay).toHaveLength(300);
});

test("an event is claimed in the name of this process, for a minute", async () => {
  const rig = open();
  await rig.clock.advance(5_000);
  await rig.ring("h", 1);
  expect(rig.claims).toMatchObject([{ process: "p1", leaseMs: 60_000, now: rig.clock.now() }]);
  expect(rig.underWay[0]?.lease).toMatchObject({ endsMs: 65_000, isOurs: NOBODY_ELSE.isOurs });
});

test("what is under way is known by its ids until it has ended, and no longer", async () => {
  const rig = open();
  await rig.ring("h", 2);
  await rig.ring("g", 1);
  expect([rig.worker.underWay(), rig.worker.inFlight()]).toEqual([2, [1, 2]]);
  rig.underWay[1]?.end();
  await settled();
  expect([rig.worker.underWay(), rig.worker.inFlight()]).toEqual([1, [1]]);
  await endAll(rig);
  expect([rig.worker.underWay(), rig.worker.inFlight()]).toEqual([0, []]);
});

test("a stop during a claim waits for what the claim brings, and makes no other", async () => {
  const rig = open();
  const answer = rig.holdClaims();
  await rig.ring("h", 1);
  await rig.ring("g", 1);
  let isStopped = false;
  const stopping = rig.worker.stop().then(() => {
    isStopped = true;
  });
  await settled();
  expect([isStopped, rig.claims.length]).toEqual([false, 1]);
  answer();
  await settled();
  expect([isStopped, rig.underWay.length]).toEqual([false, 1]);
  await endAll(rig);
  await stopping;
  expect(rig.claims).toHaveLength(1);
});

test("an event that comes during a claim that finds nothing is claimed next", async () => {
  const rig = open();
  const answer = rig.holdClaims();
  await rig.ring("h", 0);
  const claimed = rig.claims.length;
  await rig.ring("h", 0);
  expect([claimed, rig.claims.length]).toEqual([1, 1]);
  answer();
  await settled();
  expect(rig.claims).toHaveLength(2);
});

test("after a pause the newest event of a URL that does not fail is tried, and those claimed to choose from are put back", async () => {
  const rig = open({ urlOf: (id) => (id === 15 || id === 16 ? "/on" : "/off") });
  const notFound: HostHealth = { kind: "failing", reason: "status 404", isThere: true, mayBeOfUrl: true };
  await rig.ring("h", 100);
  while (rig.lanes.paused().length === 0) {
    expect(rig.underWay.map(({ url }) => url)).toEqual(["/off"]);
    rig.underWay[0]?.end(5, notFound);
    await rig.clock.advance(4_000);
  }
  expect([rig.claims.at(-1)?.lanes[0]?.limit, rig.putBack]).toEqual([1, []]);
  await rig.clock.advance(6_000);
  expect(rig.claims.at(-1)?.lanes).toMatchObject([{ limit: 64, isNewestFirst: true }]);
  expect(rig.underWay.map(({ url }) => url)).toEqual(["/on"]);
  expect([rig.putBack.length, rig.putBack.includes(15), rig.putBack.includes(16)]).toEqual([63, true, false]);
});

test("of hosts whose pauses end together, one in each claim has 64 events to choose from, so that others need not wait for all of them", async () => {
  const rig = open({ urlOf: () => "/off" });
  const hosts = Array.from({ length: 6 }, (_, n) => `h${n}`);
  const notFound: HostHealth = { kind: "failing", reason: "status 404", isThere: true, mayBeOfUrl: true };
  for (const host of hosts) await rig.ring(host, 100);
  while (rig.lanes.paused().length < hosts.length) {
    for (const { end } of [...rig.underWay]) end(5, notFound);
    await rig.clock.advance(4_000);
  }
  const before = rig.claims.length;
  const answer = rig.holdClaims();
  await rig.clock.advance(20_000);
  answer();
  await settled();
  const limits = rig.claims.slice(before).map(({ lanes }) => lanes.map(({ limit }) => limit));
  expect(limits).toEqual([[64], [64, 1, 1, 1, 1]]);
  expect(rig.underWay).toHaveLength(hosts.length);
});

test("hosts that take long delay no new one of their account, and each gets its turn, however many there are", async () => {
  const rig = open();
  const slow = Array.from({ length: 1_500 }, (_, index) => `slow-${index}`);
  for (const host of slow) await rig.ring(host, 100);
  const tried = new Set<string>();
  const endRound = async () => {
    for (const { host, end } of [...rig.underWay]) {
      tried.add(host);
      end(8_000);
      await settled();
    }
  };
  // At first they are as new as any other.
  await endRound();
  await endRound();
  tried.clear();
  for (let round = 0; round < 4; round++) {
    await endRound();
    await rig.ring(`new-${round}`, 1);
    expect(rig.underWay.map(({ host }) => host)).toContain(`new-${round}`);
  }
  expect(slow.filter((host) => !tried.has(host))).toEqual([]);
});
