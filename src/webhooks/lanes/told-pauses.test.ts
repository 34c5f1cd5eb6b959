import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import type { HostHealth } from "../judge.ts";
import { createLanes } from "./lanes.ts";

const ASKS: HostHealth = { kind: "failing", reason: "status 429", isThere: true, asksForTime: true };

test("of the short pauses of a host that limits its rate nothing is told, of a long one once, until it is well", async () => {
  const clock = createHeldClock();
  const told: number[] = [];
  const onPaused = ({ until }: { readonly until: number }) => told.push(until - clock.now());
  const lanes = createLanes({ clock, random: () => 0.5, onRoom() {}, onPaused });
  const host = { accountId: "a", host: "h" };
  for (let round = 0; round < 2; round++) {
    for (const pauseMs of [500, 1_000, 2_000, 4_000]) {
      lanes.acquire(host)?.release(ASKS, 5);
      expect(lanes.room(host)).toBe(0);
      await clock.advance(pauseMs);
    }
    lanes.acquire(host)?.release({ kind: "healthy" }, 5);
  }
  expect(told).toEqual([2_000, 2_000]);
});
