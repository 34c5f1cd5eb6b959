import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createDrain, LINGER_MS, REFUSES_AFTER_MS } from "./drain.ts";

test("a process that stops answers requests for longer than it takes connections, and then refuses them", async () => {
  const clock = createHeldClock();
  const drain = createDrain(clock);
  const state = () => [drain.isLeaving(), drain.isDraining()];
  await clock.advance(REFUSES_AFTER_MS);
  expect(state()).toEqual([false, false]);
  drain.begin();
  expect(state()).toEqual([true, false]);
  expect(REFUSES_AFTER_MS).toBeGreaterThan(2 * LINGER_MS);
  await clock.advance(REFUSES_AFTER_MS - 1);
  expect(state()).toEqual([true, false]);
  await clock.advance(1);
  expect(state()).toEqual([true, true]);
});
