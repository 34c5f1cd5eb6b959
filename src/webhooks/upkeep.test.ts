import { expect, test } from "bun:test";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { sleep } from "../core/clock.ts";
import { NOTHING_IN_FLIGHT } from "../core/queue/in-flight-jobs.ts";
import type { Lane } from "../core/webhooks/webhook-outbox.ts";
import { createOutboxUpkeep } from "./upkeep.ts";

test("lanes that nobody told of, as another process may, are found within a second, a thousand at a time", async () => {
  const clock = createHeldClock();
  const all = Array.from({ length: 1_500 }, (_, index) => ({ accountId: "a", host: `h${index}.test` }));
  let ready: readonly Lane[] = [];
  let found: readonly Lane[] = [];
  const upkeep = createOutboxUpkeep({
    clock,
    sweeper: () => NOTHING_IN_FLIGHT,
    outbox: {
      stage: async () => 0,
      nextDueAt: async () => undefined,
      async readyLanes({ after, limit }) {
        const from = after === undefined ? 0 : ready.findIndex(({ host }) => host === after.host) + 1;
        return ready.slice(from, from + limit);
      },
    },
    onLanes(lanes) {
      found = lanes;
    },
    onError(error) {
      throw error;
    },
  });
  upkeep.start();
  await clock.advance(0);
  ready = all;
  await clock.advance(1_000);
  expect(found).toEqual(all.slice(0, 1_000));
  await clock.advance(1_000);
  expect(found).toEqual(all.slice(1_000));
  await clock.advance(1_000);
  expect(found).toEqual(all.slice(0, 1_000));
  await upkeep.stop();
});

test("lanes are looked for half of the time at most where a look takes long, as behind many events that are done", async () => {
  const clock = createHeldClock();
  const lookMs = 3_000;
  let looks = 0;
  const upkeep = createOutboxUpkeep({
    clock,
    sweeper: () => NOTHING_IN_FLIGHT,
    outbox: {
      stage: async () => 0,
      nextDueAt: async () => undefined,
      async readyLanes() {
        looks++;
        await sleep(clock, lookMs, new AbortController().signal);
        return [];
      },
    },
    onLanes() {},
    onError(error) {
      throw error;
    },
  });
  upkeep.start();
  await clock.advance(20 * lookMs - 1);
  expect(looks).toBe(10);
  const stopped = upkeep.stop();
  await clock.advance(lookMs);
  await stopped;
});

test("a loop that the store keeps waiting is named, and only while there are loops", async () => {
  const clock = createHeldClock();
  const answer = Promise.withResolvers<undefined>();
  const upkeep = createOutboxUpkeep({
    clock,
    sweeper: () => NOTHING_IN_FLIGHT,
    outbox: {
      stage: async () => 0,
      nextDueAt: () => answer.promise,
      readyLanes: async () => [],
    },
    onLanes() {},
    onError(error) {
      throw error;
    },
  });
  await clock.advance(60_000);
  expect(upkeep.stalled(10_000)).toEqual([]);
  upkeep.start();
  await clock.advance(10_000);
  expect(upkeep.stalled(10_000)).toEqual([]);
  await clock.advance(1_000);
  expect(upkeep.stalled(10_000)).toEqual(["stage webhooks"]);
  answer.resolve(undefined);
  await clock.advance(0);
  await clock.advance(1_000);
  expect(upkeep.stalled(10_000)).toEqual([]);
  await upkeep.stop();
});
