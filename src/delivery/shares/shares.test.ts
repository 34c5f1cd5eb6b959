import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createLeases } from "../../store/sqlite/queue/leases.ts";
import type { LeaseStore } from "../../store/store.ts";
import { createThrottle } from "../outlets/throttle.ts";
import type { OwnShare } from "./own-shares.ts";
import { CLOSE_MS, createShares, DEAD_MS, HEARTBEAT_MS, type Shares, VALID_MS } from "./shares.ts";

type Deps = Parameters<typeof createShares>[0];

const log = { warn() {} };
const NOTHING = { isSharing: true, keep: [], take: [], dead: [], now: 0 };

/** One process on leases that others use too; its way to them can be cut. */
function startProcess(leases: LeaseStore, process: string, over: Partial<Deps> = {}) {
  const clock = createHeldClock();
  let isCut = false;
  const reached: LeaseStore = {
    heartbeat: (beat) => (isCut ? Promise.reject(new Error("away")) : leases.heartbeat(beat)),
    leave: (name) => (isCut ? Promise.reject(new Error("away")) : leases.leave(name)),
  };
  const shares = createShares({ leases: reached, clock, log, process, isSharing: true, ...over });
  void shares.start();
  return {
    clock,
    shares,
    cut(to: boolean) {
      isCut = to;
    },
  };
}

function joined(shares: Shares, slots: number) {
  const share = shares.join("smsc", slots);
  const limits: (number | undefined)[] = [];
  share.onChange(async (limitMs) => void limits.push(limitMs));
  return { share, limits };
}

const slotsOf = (share: OwnShare) => [...share.held()].toSorted();

async function pass(ms: number, ...clocks: readonly { advance(ms: number): Promise<void> }[]): Promise<void> {
  for (let past = 0; past < ms; past += 100) for (const clock of clocks) await clock.advance(100);
}

test("slots are shared out equally, each is one process's, and a process that goes leaves its own to the others", async () => {
  const leases = createLeases();
  const a = startProcess(leases, "a");
  const { share: ofA } = joined(a.shares, 5);
  await pass(300, a.clock);
  expect(slotsOf(ofA)).toEqual([0, 1, 2, 3, 4]);
  const b = startProcess(leases, "b");
  const { share: ofB } = joined(b.shares, 5);
  await pass(3_000, a.clock, b.clock);
  expect([ofA.held().size, ofB.held().size].toSorted()).toEqual([2, 3]);
  expect([...slotsOf(ofA), ...slotsOf(ofB)].toSorted()).toEqual([0, 1, 2, 3, 4]);
  await a.shares.stop();
  await pass(2 * HEARTBEAT_MS, b.clock);
  expect(ofB.held().size).toBe(5);
  await b.shares.stop();
});

test("a slot that is left goes to another only when nothing is sent on it any more", async () => {
  const leases = createLeases();
  const a = startProcess(leases, "a");
  const share = a.shares.join("smsc", 2);
  const closed = Promise.withResolvers<void>();
  share.onChange(() => (share.held().size === 1 ? closed.promise : Promise.resolve()));
  await pass(300, a.clock);
  const b = startProcess(leases, "b");
  const { share: ofB } = joined(b.shares, 2);
  await pass(5_000, a.clock, b.clock);
  expect([share.held().size, ofB.held().size]).toEqual([1, 0]);
  closed.resolve();
  await pass(3_000, a.clock, b.clock);
  expect([share.held().size, ofB.held().size]).toEqual([1, 1]);
  await Promise.all([a.shares.stop(), b.shares.stop()]);
});

test("what a process that died had is taken over within 15 s", async () => {
  const leases = createLeases();
  const [a, b] = [startProcess(leases, "a"), startProcess(leases, "b")];
  joined(a.shares, 4);
  const { share: ofB } = joined(b.shares, 4);
  await pass(3_000, a.clock, b.clock);
  expect(ofB.held().size).toBe(2);
  await pass(DEAD_MS - 2 * HEARTBEAT_MS, b.clock);
  expect(ofB.held().size).toBe(2);
  await pass(15_000 - (DEAD_MS - 2 * HEARTBEAT_MS), b.clock);
  expect(ofB.held().size).toBe(4);
  await b.shares.stop();
});

test("from the end of its start on a process claims in its own name, where the database lets it", async () => {
  const leases = createLeases();
  const clock = createHeldClock();
  const shares = createShares({ leases, clock, log, process: "a", isSharing: true });
  await shares.start();
  expect(shares.claimant().process).toBe("a");
  await shares.stop();

  const away = { ...leases, heartbeat: () => Promise.reject(new Error("away")) };
  const alone = createShares({ leases: away, clock, log, process: "b", isSharing: true });
  await alone.start();
  expect(alone.claimant().process).toBeUndefined();
  await alone.stop();
});

test("what a process had that is said to be dead is taken over after two heartbeats' time in which it has none", async () => {
  const leases = createLeases();
  const a = startProcess(leases, "a");
  joined(a.shares, 4);
  await pass(300, a.clock);
  const b = startProcess(leases, "b", { dead: ["a"] });
  const { share: ofB } = joined(b.shares, 4);
  await pass(HEARTBEAT_MS, b.clock);
  expect(ofB.held().size).toBe(0);
  await pass(2 * HEARTBEAT_MS, b.clock);
  expect(ofB.held().size).toBe(4);
  await b.shares.stop();
});

test("a process that is said to be dead and has heartbeats all the same keeps what it has", async () => {
  const leases = createLeases();
  const a = startProcess(leases, "a");
  const { share: ofA } = joined(a.shares, 4);
  await pass(300, a.clock);
  const { isOurs } = a.shares.claimant();
  const b = startProcess(leases, "b", { dead: ["a"] });
  const { share: ofB } = joined(b.shares, 4);
  await pass(DEAD_MS + 3_000, a.clock, b.clock);
  expect([ofA.held().size, ofB.held().size]).toEqual([2, 2]);
  expect(isOurs()).toBe(true);
  await Promise.all([a.shares.stop(), b.shares.stop()]);
});

test("a process that was declared dead while its leases were valid begins nothing that it had claimed, after its next heartbeat", async () => {
  const leases = createLeases();
  const a = startProcess(leases, "a");
  await pass(300, a.clock);
  const { isOurs } = a.shares.claimant();
  const snapshot = await leases.heartbeat({ ...NOTHING, process: "b" });
  await leases.heartbeat({
    ...NOTHING,
    process: "b",
    dead: snapshot.processes.filter(({ process }) => process === "a"),
  });
  await pass(2 * HEARTBEAT_MS, a.clock);
  expect(isOurs()).toBe(false);
  expect(a.shares.claimant().process).toBe("a");
  await a.shares.stop();
});

test("a holder that cannot renew stops using its slots, and has closed them, before another may take them", async () => {
  const leases = createLeases();
  const [a, b] = [startProcess(leases, "a"), startProcess(leases, "b")];
  const { share: ofA, limits } = joined(a.shares, 2);
  const { share: ofB } = joined(b.shares, 2);
  await pass(3_000, a.clock, b.clock);
  a.cut(true);
  await pass(VALID_MS, a.clock, b.clock);
  expect(ofA.held().size).toBe(0);
  expect(ofB.held().size).toBe(1);
  await pass(HEARTBEAT_MS, a.clock, b.clock);
  expect(limits.at(-1)).toBe(CLOSE_MS);
  expect(VALID_MS + CLOSE_MS + HEARTBEAT_MS).toBeLessThan(DEAD_MS);
  await pass(15_000 - VALID_MS - HEARTBEAT_MS, a.clock, b.clock);
  expect(ofB.held().size).toBe(2);
  a.cut(false);
  await pass(4_000, a.clock, b.clock);
  expect([ofA.held().size, ofB.held().size]).toEqual([1, 1]);
  await Promise.all([a.shares.stop(), b.shares.stop()]);
});

test("a process that was taken for dead while it slept closes at once what it had", async () => {
  const leases = createLeases();
  const a = startProcess(leases, "a");
  const { share: ofA, limits } = joined(a.shares, 1);
  await pass(300, a.clock);
  expect(ofA.held().size).toBe(1);
  const b = startProcess(leases, "b");
  joined(b.shares, 1);
  await leases.leave("a");
  await pass(2_000, b.clock);
  await pass(2_000, a.clock);
  expect(ofA.held().size).toBe(0);
  expect(limits).toContain(0);
  await Promise.all([a.shares.stop(), b.shares.stop()]);
});

test("what a process has claimed it may begin while its heartbeats go well, and never again after a time when they did not", async () => {
  const leases = createLeases();
  const { clock, shares, cut } = startProcess(leases, "a");
  expect(shares.claimant().process).toBeUndefined();
  await pass(HEARTBEAT_MS, clock);
  const before = shares.claimant();
  expect(before.process).toBe("a");
  await pass(10 * VALID_MS, clock);
  expect(before.isOurs()).toBeTrue();
  cut(true);
  await pass(VALID_MS - HEARTBEAT_MS, clock);
  expect(before.isOurs()).toBeTrue();
  await pass(HEARTBEAT_MS, clock);
  expect(before.isOurs()).toBeFalse();
  const meanwhile = shares.claimant();
  cut(false);
  await pass(2 * HEARTBEAT_MS, clock);
  expect(before.isOurs()).toBeFalse();
  expect(shares.claimant().isOurs()).toBeTrue();
  // In nobody's name: its leases last, whoever is declared dead.
  expect([meanwhile.process, meanwhile.isOurs()]).toEqual([undefined, true]);
  await shares.stop();
});

test("the first that comes back to a database that was away declares nobody dead who comes a little later", async () => {
  const leases = createLeases();
  const [a, b] = [startProcess(leases, "a"), startProcess(leases, "b")];
  const { share: ofA } = joined(a.shares, 2);
  joined(b.shares, 2);
  await pass(3_000, a.clock, b.clock);
  for (const one of [a, b]) one.cut(true);
  await pass(3 * DEAD_MS, a.clock, b.clock);
  b.cut(false);
  await pass(DEAD_MS / 2, a.clock, b.clock);
  expect(
    (await leases.heartbeat({ ...NOTHING, process: "c" })).processes.map(({ process }) => process),
  ).toContain("a");
  a.cut(false);
  await pass(15_000, a.clock, b.clock);
  expect(ofA.held().size).toBe(1);
  await Promise.all([a.shares.stop(), b.shares.stop()]);
});

test("a process that takes no part in sharing, or has left the connectors to others, still shows that it lives", async () => {
  const leases = createLeases();
  const [a, b] = [startProcess(leases, "a"), startProcess(leases, "b")];
  const { share: ofA } = joined(a.shares, 4);
  joined(b.shares, 4).share.close();
  const { clock, shares } = startProcess(leases, "c", { isSharing: false });
  await pass(3_000, a.clock, b.clock, clock);
  expect(ofA.held().size).toBe(2);
  const claimants = [b.shares.claimant(), shares.claimant()];
  b.shares.leaveConnectors();
  await pass(DEAD_MS + 3_000, a.clock, b.clock, clock);
  expect(ofA.held().size).toBe(4);
  expect(claimants.map(({ process, isOurs }) => isOurs() && process)).toEqual(["b", "c"]);
  await Promise.all([a.shares.stop(), b.shares.stop(), shares.stop()]);
});

test("a rate is divided with the slots, and what a part grows by begins to fill then", async () => {
  const leases = createLeases();
  const [a, b] = [startProcess(leases, "a"), startProcess(leases, "b")];
  const { share: ofA } = joined(a.shares, 24);
  const { share: ofB } = joined(b.shares, 24);
  const rates = [
    createThrottle(a.clock, 10, { part: () => ofA.held().size / ofA.of }),
    createThrottle(b.clock, 10, { part: () => ofB.held().size / ofB.of }),
  ];
  let sent = 0;
  const sendAll = () => {
    for (const rate of rates) {
      for (; rate.available() > 0; sent++) rate.take(1);
    }
  };
  for (let step = 0; step < 100; step++) {
    await pass(100, a.clock, b.clock);
    sendAll();
  }
  expect(sent).toBeGreaterThan(85);
  expect(sent).toBeLessThanOrEqual(100);
  sent = 0;
  await a.shares.stop();
  rates.shift();
  for (let step = 0; step < 100; step++) {
    await pass(100, b.clock);
    sendAll();
  }
  expect(sent).toBeGreaterThan(85);
  expect(sent).toBeLessThanOrEqual(100);
  await b.shares.stop();
});
