/** What two processes that share connectors tell each other, and their own channels, of the slots. */
import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createLeases } from "../../store/sqlite/queue/leases.ts";
import type { LeaseStore } from "../../store/store.ts";
import type { OwnShare } from "./own-shares.ts";
import { createShares, HEARTBEAT_MS, VALID_MS } from "./shares.ts";

/** Processes on the same clock and leases; the way of each to the leases can be cut. */
function open() {
  const clock = createHeldClock();
  const leases = createLeases();
  const cut = new Set<string>();
  const start = (process: string) => {
    const reach = async () => {
      if (cut.has(process)) throw new Error("away");
    };
    const reached: LeaseStore = {
      heartbeat: (beat) => reach().then(() => leases.heartbeat(beat)),
      leave: (name) => reach().then(() => leases.leave(name)),
    };
    const shares = createShares({ leases: reached, clock, log: { warn() {} }, process, isSharing: true });
    void shares.start();
    return shares;
  };
  /** What one sees that has no part. */
  const snapshot = () =>
    leases.heartbeat({ process: "c", isSharing: false, keep: [], take: [], dead: [], now: clock.now() });
  return { clock, cut, start, snapshot };
}

/** Notes what the share's channel is told; it has left a slot when `done` resolves. */
function listen(share: OwnShare, done: (held: number) => Promise<void> = async () => {}) {
  const told: [held: number, limitMs: number | undefined][] = [];
  share.onChange((limitMs) => {
    const held = share.held().size;
    told.push([held, limitMs]);
    return done(held);
  });
  return told;
}

test("the slots of one connector do not count for another", async () => {
  const { clock, start, snapshot } = open();
  const [a, b] = [start("a"), start("b")];
  const two = [a, b].map((each) => each.join("two", 2));
  const four = [a, b].map((each) => each.join("four", 4));
  await clock.advance(5_000);
  expect(two.map((share) => share.held().size)).toEqual([1, 1]);
  expect(four.map((share) => share.held().size)).toEqual([2, 2]);
  const leased = (await snapshot()).leases.map(({ name, slot }) => `${name} ${slot}`);
  expect(leased.toSorted()).toEqual(["four 0", "four 1", "four 2", "four 3", "two 0", "two 1"]);
});

test("a channel is told when its slots change, and only then, however long one is being left", async () => {
  const { clock, start } = open();
  const left = Promise.withResolvers<void>();
  const toldA = listen(start("a").join("smsc", 2), (held) => (held === 1 ? left.promise : Promise.resolve()));
  await clock.advance(10_000);
  expect(toldA).toEqual([[2, undefined]]);
  const toldB = listen(start("b").join("smsc", 2));
  await clock.advance(10_000);
  expect([toldA, toldB]).toEqual([
    [
      [2, undefined],
      [1, undefined],
    ],
    [],
  ]);
  left.resolve();
  await clock.advance(0);
  await clock.advance(10_000);
  expect([toldA.length, toldB]).toEqual([2, [[1, undefined]]]);
});

test("a process that could not renew its leases for a while closes its slots within 3 s, and uses them again once it can", async () => {
  const { clock, cut, start } = open();
  const told = listen(start("a").join("smsc", 2));
  await clock.advance(100);
  cut.add("a");
  await clock.advance(VALID_MS + 2 * HEARTBEAT_MS);
  cut.delete("a");
  await clock.advance(10_000);
  expect(told).toEqual([
    [2, undefined],
    [0, 3_000],
    [2, undefined],
  ]);
});

test("slots are free as soon as their share is closed, and a part is the others' as soon as it is left", async () => {
  const { clock, start, snapshot } = open();
  const a = start("a");
  const share = a.join("smsc", 2);
  await clock.advance(100);
  expect((await snapshot()).leases).toHaveLength(2);
  share.close();
  await clock.advance(0);
  expect((await snapshot()).leases).toEqual([]);
  a.leaveConnectors();
  await clock.advance(0);
  expect((await snapshot()).processes).toContainEqual(
    expect.objectContaining({ process: "a", isSharing: false }),
  );
});

for (const [when, isJoinedFirst] of [
  ["while it is being left", false],
  ["before it is left", true],
] as const) {
  test(`a slot whose connector is joined again ${when} is nobody else's until the earlier channel has left it`, async () => {
    const { clock, start } = open();
    const a = start("a");
    const left = Promise.withResolvers<void>();
    const first = a.join("smsc", 2);
    const told = listen(first, (held) => (held === 1 ? left.promise : Promise.resolve()));
    await clock.advance(5_000);
    const joinAgain = () => {
      const again = a.join("smsc", 2);
      listen(again);
      return again;
    };
    const early = isJoinedFirst ? joinAgain() : undefined;
    const ofB = start("b").join("smsc", 2);
    await clock.advance(5_000);
    const again = early ?? joinAgain();
    await clock.advance(5_000);
    expect([again.held().size, ofB.held().size]).toEqual([1, 0]);
    left.resolve();
    await clock.advance(0);
    await clock.advance(5_000);
    expect([again.held().size, ofB.held().size]).toEqual([1, 1]);
    first.close();
    const toldBefore = told.length;
    ofB.close();
    await clock.advance(5_000);
    expect(told).toHaveLength(toldBefore);
  });
}

test("slots stay leased to an earlier channel that is still stopping where the next one could not be opened", async () => {
  const { clock, start, snapshot } = open();
  const a = start("a");
  const first = a.join("smsc", 2);
  await clock.advance(5_000);
  a.join("smsc", 2).close();
  await clock.advance(5_000);
  expect((await snapshot()).leases).toHaveLength(2);
  first.close();
  await clock.advance(5_000);
  expect((await snapshot()).leases).toEqual([]);
});

test("a process that stands still is declared dead after 12 s and not before, also by one that has just started", async () => {
  const { clock, cut, start } = open();
  start("a").join("smsc", 4);
  await clock.advance(100);
  cut.add("a");
  const share = start("b").join("smsc", 4);
  await clock.advance(11_500);
  expect(share.held().size).toBe(0);
  await clock.advance(2_500);
  expect(share.held().size).toBe(4);
});

test("a slot is not left to a process without heartbeats, nor kept free for it until it is declared dead", async () => {
  const { clock, cut, start } = open();
  // The only slot is the second's of two processes, and the first's of three.
  start("a").join("smsc-4", 1);
  const b = start("b").join("smsc-4", 1);
  await clock.advance(5_000);
  expect(b.held().size).toBe(1);
  cut.add("a");
  await clock.advance(HEARTBEAT_MS);
  const c = start("c").join("smsc-4", 1);
  await clock.advance(4 * HEARTBEAT_MS);
  expect([b.held().size, c.held().size]).toEqual([0, 1]);
});

test("whether messages of a connector can leave elsewhere is known within two heartbeats", async () => {
  const { clock, start } = open();
  const [a, b] = [start("a"), start("b")];
  const share = a.join("smsc", 1);
  let isUp = true;
  for (const each of [share, b.join("smsc", 1)]) each.tellUp(() => isUp);
  await clock.advance(3 * HEARTBEAT_MS);
  const [holder, other] = share.held().size === 1 ? [a, b] : [b, a];
  expect([holder, other].map((each) => each.isUpElsewhere("smsc"))).toEqual([false, true]);
  expect(other.isUpElsewhere("other")).toBe(false);
  isUp = false;
  await clock.advance(2 * HEARTBEAT_MS);
  expect(other.isUpElsewhere("smsc")).toBe(false);
});

test("a process that has not started, or cannot reach the database, stops all the same", async () => {
  const { clock, cut, start } = open();
  const a = start("a");
  await clock.advance(100);
  cut.add("a");
  await a.stop();
  const parts = { leases: createLeases(), clock, log: { warn() {} }, process: "b", isSharing: true };
  await createShares(parts).stop();
});

test("a connector is up elsewhere where one slot of another process is up: not before its channel says so, nor where it was left before", async () => {
  const { clock, start, snapshot } = open();
  const leaving = Promise.withResolvers<void>();
  const a = start("a");
  const share = a.join("smsc", 2);
  listen(share, (held) => (held === 1 ? leaving.promise : Promise.resolve()));
  await clock.advance(2 * HEARTBEAT_MS);
  const b = start("b");
  b.join("smsc", 2);
  await clock.advance(3 * HEARTBEAT_MS);
  expect(b.isUpElsewhere("smsc")).toBe(false);
  share.tellUp(() => true);
  await clock.advance(2 * HEARTBEAT_MS);
  const ofA = (await snapshot()).leases.filter(({ process }) => process === "a");
  expect(ofA.map(({ isUp }) => isUp).toSorted()).toEqual([false, true]);
  expect([b.isUpElsewhere("smsc"), a.isUpElsewhere("smsc")]).toEqual([true, false]);
  leaving.resolve();
});

test("a process that cannot take the slots that it wants tries again once a heartbeat", async () => {
  const clock = createHeldClock();
  const leases = createLeases();
  const times: number[] = [];
  const warned: unknown[] = [];
  const reached: LeaseStore = {
    async heartbeat(beat) {
      times.push(clock.monotonicMs());
      if (beat.take.length > 0 && times.length < 5) throw new Error("away");
      return leases.heartbeat(beat);
    },
    leave: leases.leave,
  };
  const log = { warn: (fields: object) => void warned.push(fields) };
  const shares = createShares({ leases: reached, clock, log, process: "a", isSharing: true });
  const share = shares.join("smsc", 2);
  void shares.start();
  await clock.advance(4 * HEARTBEAT_MS);
  const tries = times.slice(1);
  expect(tries.slice(1).map((at, n) => at - tries[n]!)).toEqual([HEARTBEAT_MS, HEARTBEAT_MS, HEARTBEAT_MS]);
  expect(warned).toEqual(Array(3).fill({ err: new Error("away") }));
  expect(share.held().size).toBe(2);
  await shares.stop();
});
