import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createLeases } from "../../store/sqlite/queue/leases.ts";
import type { LeaseStore } from "../../store/store.ts";
import { CLOSE_MS, createShares, HEARTBEAT_MS, VALID_MS } from "./shares.ts";

/** One process, on leases whose answers can be held back. */
function open() {
  const clock = createHeldClock();
  const leases = createLeases();
  let gate: Promise<void> | undefined;
  const slow: LeaseStore = {
    async heartbeat(beat) {
      await gate;
      return leases.heartbeat(beat);
    },
    async leave(process) {
      await gate;
      return leases.leave(process);
    },
  };
  const shares = createShares({ leases: slow, clock, log: { warn() {} }, process: "a", isSharing: true });
  return {
    clock,
    leases,
    shares,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return () => {
        gate = undefined;
        resolve();
      };
    },
  };
}

async function isDone(work: Promise<unknown>): Promise<boolean> {
  return Promise.race([work.then(() => true), new Promise<boolean>((end) => setImmediate(end, false))]);
}

test("slots are left while a heartbeat hangs, as soon as they are no longer valid", async () => {
  const { clock, shares, hold } = open();
  await shares.start();
  await clock.advance(100);
  const limits: (number | undefined)[] = [];
  const share = shares.join("smsc", 2);
  share.onChange(async (limitMs) => void limits.push(limitMs));
  await clock.advance(0);
  expect([share.held().size, limits]).toEqual([2, [undefined]]);
  hold();
  await clock.advance(VALID_MS - 1);
  expect(share.held().size).toBe(2);
  await clock.advance(1);
  expect([share.held().size, shares.claimant().process]).toEqual([0, undefined]);
  await clock.advance(250);
  expect(limits).toEqual([undefined, CLOSE_MS]);
});

test("slots that were left while a heartbeat hung are used again after it, however long it took", async () => {
  for (let hungMs = VALID_MS - 500; hungMs < VALID_MS + CLOSE_MS + 2_000; hungMs += 250) {
    const { clock, shares, hold } = open();
    await shares.start();
    const told: number[] = [];
    const share = shares.join("smsc", 2);
    share.onChange(async () => void told.push(share.held().size));
    await clock.advance(HEARTBEAT_MS / 2);
    const letGo = hold();
    await clock.advance(HEARTBEAT_MS / 2 + hungMs);
    letGo();
    await clock.advance(3 * HEARTBEAT_MS);
    expect([hungMs, share.held().size, told.at(-1)]).toEqual([hungMs, 2, 2]);
  }
});

test("slots are valid from the beginning of a heartbeat, however long that takes", async () => {
  const { clock, shares, hold } = open();
  const letGo = hold();
  const starting = shares.start();
  await clock.advance(VALID_MS - 500);
  letGo();
  await starting;
  await clock.advance(0);
  expect(shares.claimant().process).toBe("a");
  hold();
  await clock.advance(500);
  expect(shares.claimant().process).toBeUndefined();
});

test("a start waits no longer than 2 s for a database that does not answer, and a stop no longer than 5 s", async () => {
  const { clock, shares, hold } = open();
  hold();
  const waits = [
    [shares.start, 2_000],
    [shares.stop, 5_000],
  ] as const;
  for (const [wait, longestMs] of waits) {
    const waiting = wait();
    await clock.advance(longestMs - 1);
    expect(await isDone(waiting)).toBe(false);
    await clock.advance(1);
    expect(await isDone(waiting)).toBe(true);
  }
});

test("a stop gives up its leases also where another process holds up the heartbeats, until the server ends that one's", async () => {
  const { clock, leases, shares, hold } = open();
  await shares.start();
  shares.join("smsc", 1);
  await clock.advance(HEARTBEAT_MS / 2);
  const letGo = hold();
  await clock.advance(HEARTBEAT_MS);
  const stopped = shares.stop();
  await clock.advance(4_000);
  letGo();
  await stopped;
  const { process, now } = { process: "b", now: 0 };
  const left = await leases.heartbeat({ process, now, isSharing: true, keep: [], take: [], dead: [] });
  expect([left.leases, left.processes.length]).toEqual([[], 1]);
});

test("a share that is joined again has the slots at once, and keeps them when the earlier one is closed", async () => {
  const { clock, leases, shares } = open();
  await shares.start();
  const before = shares.join("smsc", 3);
  await clock.advance(100);
  const after = shares.join("smsc", 2);
  expect([...after.held()]).toEqual([0, 1]);
  before.close();
  await clock.advance(5_000);
  expect([...after.held()]).toEqual([0, 1]);
  const snapshot = await leases.heartbeat({
    process: "b",
    isSharing: false,
    keep: [],
    take: [],
    dead: [],
    now: 0,
  });
  const leased = snapshot.leases.map(({ process, slot }) => `${process} ${slot}`);
  expect(leased).toEqual(["a 0", "a 1"]);
  await shares.stop();
});

test("what is up here is not up elsewhere", async () => {
  const { clock, shares } = open();
  await shares.start();
  shares.join("smsc", 1).tellUp(() => true);
  await clock.advance(3_000);
  expect(shares.isUpElsewhere("smsc")).toBe(false);
  await shares.stop();
});
