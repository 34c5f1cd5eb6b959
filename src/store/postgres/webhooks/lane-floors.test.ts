import { expect, test } from "bun:test";
import { createHeldClock, type HeldClock } from "../../../../test/fakes/held-clock.ts";
import type { ClaimedLane } from "../../store.ts";
import { createLaneFloors, type LaneFloors } from "./lane-floors.ts";

function laneOf(host: string, limit = 1): ClaimedLane {
  return { lane: { accountId: "a", host }, limit };
}

const [A, B, NEWEST] = [laneOf("a.test"), laneOf("b.test"), { ...laneOf("a.test"), isNewestFirst: true }];

interface Ground {
  readonly floors: LaneFloors;
  readonly clock: HeldClock;
  /** A claim that takes so long, and finds these. */
  claim(lane: ClaimedLane, ms: number, ids?: readonly number[]): Promise<number | undefined>;
  readonly changeServer: () => void;
}

/** Lanes that have reached 20 and 10, after a look at the first that took a second. */
async function slowFloors(): Promise<Ground> {
  const clock = createHeldClock();
  const forgets: (() => void)[] = [];
  const floors = createLaneFloors({ onOtherServer: (forget) => void forgets.push(forget) }, clock);
  const claim: Ground["claim"] = async (lane, ms, ids = []) => {
    const [start] = floors.startOf([lane]);
    await floors.timed([lane], () => clock.advance(ms));
    floors.note([lane], [ids]);
    return start;
  };
  for (let times = 0; times < 3; times++) {
    await claim(B, 0, [10]);
    await claim(A, 0, [20]);
    await clock.advance(10_000);
  }
  await claim(A, 1_000, [20]);
  await claim(B, 0, [10]);
  return { floors, clock, claim, changeServer: () => forgets.forEach((forget) => void forget()) };
}

test("after a slow look each lane is looked at behind what it had reached ten seconds before, and once from its start when four times as long is over", async () => {
  const { clock, claim } = await slowFloors();
  expect([await claim(A, 0, [30]), await claim(B, 0)]).toEqual([20, 10]);
  await clock.advance(4_000);
  expect([await claim(A, 1_000), await claim(A, 0)]).toEqual([0, 20]);
  expect([await claim(B, 0), await claim(B, 0)]).toEqual([0, 10]);
});

test("lanes that come one after the other for their look from the start do not put off the next one", async () => {
  const { clock, claim } = await slowFloors();
  await clock.advance(4_000);
  await claim(A, 1_000);
  await clock.advance(3_900);
  expect(await claim(B, 2)).toBe(0);
  await clock.advance(108);
  expect(await claim(A, 0)).toBe(0);
});

test("behind what a look from the start has found the next ones go on, until they come to the floor", async () => {
  const { clock, claim } = await slowFloors();
  await clock.advance(4_000);
  expect([await claim(A, 1_000, [5]), await claim(A, 100, [7])]).toEqual([0, 5]);
  expect([await claim(A, 100), await claim(A, 0)]).toEqual([7, 20]);
  await clock.advance(3_800);
  expect([await claim(A, 1_000, [6]), await claim(A, 1_000, [25])]).toEqual([0, 6]);
  await clock.advance(7_999);
  expect(await claim(A, 0, [30])).toBe(20);
  await clock.advance(1);
  expect(await claim(A, 0, [30])).toBe(0);
});

test("a look that goes on and fails is not repeated", async () => {
  const { floors, clock, claim } = await slowFloors();
  await clock.advance(4_000);
  await claim(A, 1_000, [5]);
  expect(floors.startOf([A])).toEqual([5]);
  const failing = floors.timed([A], async () => {
    await clock.advance(10_000);
    throw new Error("it took too long");
  });
  expect(await failing.catch((error) => error.message)).toBe("it took too long");
  expect(floors.startOf([A])).toEqual([20]);
});

test("a look for the newest that found as many as it wanted has not come to the start of its lane", async () => {
  const { clock, claim } = await slowFloors();
  await clock.advance(4_000);
  expect(await claim(NEWEST, 1_000, [40])).toBe(0);
  expect(await claim(NEWEST, 0)).toBe(0);
  expect(await claim(A, 0)).toBe(20);
});

test("a look from the start that fails is not repeated at once, for no lane", async () => {
  const { floors, clock } = await slowFloors();
  await clock.advance(4_000);
  expect(floors.startOf([A, B])).toEqual([0, 0]);
  const failing = floors.timed([A], async () => {
    await clock.advance(10_000);
    throw new Error("it took too long");
  });
  expect(await failing.catch((error) => error.message)).toBe("it took too long");
  expect(floors.startOf([A, B])).toEqual([20, 10]);
});

test("on another server, and for lanes that were not claimed for longest of more than a thousand, looks begin at the start", async () => {
  const { floors, claim, changeServer } = await slowFloors();
  for (let other = 0; other < 999; other++) await claim(laneOf(`${other}.test`), 0);
  expect(floors.startOf([A, B])).toEqual([0, 10]);
  changeServer();
  expect(floors.startOf([A, B])).toEqual([0, 0]);
});
