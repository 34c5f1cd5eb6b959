import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createLeases } from "../../store/sqlite/queue/leases.ts";
import type { LeaseStore } from "../../store/store.ts";
import { CLOSE_MS, createShares, VALID_MS } from "./shares.ts";

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
    ...{ clock, leases, shares },
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

test("they are valid from the beginning of a heartbeat, however long that takes", async () => {
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

test("neither a start nor a stop waits longer than 2 s for a database that does not answer", async () => {
  const { clock, shares, hold } = open();
  hold();
  for (const wait of [shares.start, shares.stop]) {
    const waiting = wait();
    await clock.advance(1_999);
    expect(await isDone(waiting)).toBe(false);
    await clock.advance(1);
    expect(await isDone(waiting)).toBe(true);
  }
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
