import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { inTime } from "./in-time.ts";

const LIMIT = { limitMs: 100, late: () => "late" };

test("a promise that settles in time is answered as it settles, and its timer is taken back", async () => {
  const clock = createHeldClock();
  expect(await inTime(clock, LIMIT, Promise.resolve("done"))).toBe("done");
  await expect(inTime(clock, LIMIT, Promise.reject(new Error("failed")))).rejects.toThrow("failed");
  await clock.advance(0);
  expect(clock.pending()).toBe(0);
});

test("a promise that takes longer than its limit is answered with what is said to be late, whatever it does then", async () => {
  const clock = createHeldClock();
  const slow = Promise.withResolvers<string>();
  const answer = inTime(clock, LIMIT, slow.promise);
  await clock.advance(100);
  slow.reject(new Error("failed later"));
  expect(await answer).toBe("late");
  const refusing = {
    limitMs: 100,
    late: () => {
      throw new Error("too late");
    },
  };
  const refused = inTime(clock, refusing, new Promise<string>(() => {}));
  refused.catch(() => {});
  await clock.advance(100);
  await expect(refused).rejects.toThrow("too late");
});
