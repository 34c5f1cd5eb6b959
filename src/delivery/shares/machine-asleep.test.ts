/** While a machine is asleep its monotonic clock stands still, and the wall clock does not. */
import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createLeases } from "../../store/sqlite/queue/leases.ts";
import type { LeaseStore } from "../../store/store.ts";
import { createShares, DEAD_MS, HEARTBEAT_MS } from "./shares.ts";

async function open() {
  const held = createHeldClock();
  const leases = createLeases();
  let asleepMs = 0;
  let answersToLose = 0;
  const clock = { ...held, now: () => held.now() + asleepMs };
  const reached: LeaseStore = {
    ...leases,
    async heartbeat(beat) {
      const answer = await leases.heartbeat(beat);
      if (answersToLose-- > 0) throw new Error("the connection was lost");
      return answer;
    },
  };
  const shares = createShares({ leases: reached, clock, log: { warn() {} }, process: "a", isSharing: true });
  await shares.start();
  const share = shares.join("smsc", 1);
  const limits: (number | undefined)[] = [];
  share.onChange(async (limitMs) => void limits.push(limitMs));
  await held.advance(HEARTBEAT_MS);
  return {
    clock: held,
    leases,
    shares,
    /** What its channel was told about its slots. */
    limits,
    sleep(ms: number) {
      asleepMs += ms;
    },
    loseAnswers(count: number) {
      answersToLose = count;
    },
  };
}

test("what was claimed before is begun once a heartbeat has said that nobody has taken it over, and its connections stay", async () => {
  const { clock, shares, limits, sleep } = await open();
  const { process, isOurs } = shares.claimant();
  expect([process, isOurs()]).toEqual(["a", true]);
  sleep(DEAD_MS);
  expect(isOurs()).toBe(false);
  // What was claimed in nobody's name would go back in line at the next such step, however far its attempt is.
  expect(shares.claimant()).toMatchObject({ mustWait: true });
  await clock.advance(HEARTBEAT_MS);
  expect([isOurs(), shares.claimant().process]).toEqual([true, "a"]);
  expect(limits).toEqual([undefined]);
  await shares.stop();
});

test("what others have taken over meanwhile is never begun", async () => {
  const { clock, leases, shares, sleep } = await open();
  const { isOurs } = shares.claimant();
  await leases.leave("a");
  sleep(DEAD_MS);
  expect(isOurs()).toBe(false);
  await clock.advance(3 * HEARTBEAT_MS);
  expect([isOurs(), shares.claimant().process]).toEqual([false, "a"]);
  await shares.stop();
});

test("what others have taken over meanwhile is never begun where the first answer after that is lost", async () => {
  const { clock, leases, shares, sleep, loseAnswers } = await open();
  const { isOurs } = shares.claimant();
  await leases.leave("a");
  sleep(DEAD_MS);
  loseAnswers(1);
  await clock.advance(3 * HEARTBEAT_MS);
  expect([isOurs(), shares.claimant().process]).toEqual([false, "a"]);
  await shares.stop();
});

test("a clock that is set back, or forward by less than leases are valid, changes nothing", async () => {
  const { shares, sleep } = await open();
  const { isOurs } = shares.claimant();
  sleep(5_000);
  expect(isOurs()).toBe(true);
  sleep(-DEAD_MS);
  expect([isOurs(), shares.claimant().process]).toEqual([true, "a"]);
  await shares.stop();
});
