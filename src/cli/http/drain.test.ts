import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createDrain, LINGER_MS } from "./drain.ts";

test("a process that stops answers requests for a while before it refuses them", async () => {
  const clock = createHeldClock();
  const drain = createDrain(clock);
  const state = () => [drain.isLeaving(), drain.isDraining()];
  await clock.advance(LINGER_MS);
  expect(state()).toEqual([false, false]);
  drain.begin();
  expect(state()).toEqual([true, false]);
  await clock.advance(LINGER_MS - 1);
  expect(state()).toEqual([true, false]);
  await clock.advance(1);
  expect(state()).toEqual([true, true]);
});
