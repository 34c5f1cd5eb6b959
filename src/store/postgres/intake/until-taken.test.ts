import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import type { AcceptRequest, AcceptResult } from "../../../core/messages/accept-request.ts";
import { untilAnswered, untilTaken } from "./until-taken.ts";

const KEYED = { idempotency: {} } as AcceptRequest;
const HELD: AcceptResult = { kind: "in_progress" };

/** Accepts with a key that is held for the first `tries` times; and how often it was tried. */
function holding(tries: number) {
  const clock = createHeldClock();
  let tried = 0;
  const next = async (): Promise<AcceptResult> => (++tried > tries ? { kind: "accepted" } : HELD);
  return { clock, accept: untilTaken({ clock, first: next, again: next }), tried: () => tried };
}

test("a key that another process lets go of is taken after all", async () => {
  const { clock, accept, tried } = holding(10);
  const accepting = accept(KEYED);
  await clock.advance(0);
  await clock.advance(5_000);
  expect(await accepting).toEqual({ kind: "accepted" });
  expect(tried()).toBe(11);
});

test("a key that stays held is waited for 30 s, and no longer", async () => {
  const { clock, accept, tried } = holding(Number.POSITIVE_INFINITY);
  let result: AcceptResult | undefined;
  const accepting = accept(KEYED).then((held) => {
    result = held;
  });
  await clock.advance(0);
  await clock.advance(29_900);
  expect(result).toBeUndefined();
  await clock.advance(100);
  await accepting;
  expect(result).toEqual(HELD);
  expect(tried()).toBe(61);
});

test("a key whose answer is asked for is waited for 30 s, and no longer", async () => {
  const clock = createHeldClock();
  let asked = 0;
  const answering = untilAnswered(clock, async () => {
    asked++;
    return "in_progress";
  })({ scope: "s", key: "k", now: 0 });
  await clock.advance(0);
  await clock.advance(30_000);
  expect(await answering).toBe("in_progress");
  expect(asked).toBe(61);
});
