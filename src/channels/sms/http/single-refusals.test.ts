import { expect, test } from "bun:test";
import type { Judgement } from "./judge-answer.ts";
import { createSingleRefusals } from "./single-refusals.ts";

const barred = (retryAfterMs: number): Judgement => ({
  outcome: { kind: "deferred", error: { code: "http.403", message: "HTTP 403" }, retryAfterMs },
  counts: false,
  reaction: { kind: "down", reason: "HTTP 403", isRefused: true },
});

const BARRED = barred(1_000);

const SENT: Judgement = {
  outcome: { kind: "sent", providerMessageIds: ["a"] },
  counts: true,
  reaction: { kind: "up" },
};

test("a message that is refused again after others were answered says nothing of the provider, and waits ever longer", () => {
  const refusals = createSingleRefusals();
  expect(refusals.heed("one", BARRED)).toBe(BARRED);
  const waits = [10, 20, 40, 80, 160, 320, 600, 600];
  for (const seconds of waits) {
    refusals.heed("other", SENT);
    const { reaction: _, ...rest } = barred(seconds * 1_000);
    expect(refusals.heed("one", BARRED)).toEqual(rest);
  }
});

test("while no other is answered, the provider refuses the connector, whichever message it is asked with", () => {
  const refusals = createSingleRefusals();
  refusals.heed("other", SENT);
  for (const id of ["one", "two", "one", "two", "one"]) expect(refusals.heed(id, BARRED)).toBe(BARRED);
});

test("a longer wait that the provider asks for counts", () => {
  const refusals = createSingleRefusals();
  refusals.heed("one", BARRED);
  refusals.heed("other", SENT);
  expect(refusals.heed("one", barred(90_000)).outcome).toMatchObject({ retryAfterMs: 90_000 });
});

test("a message that was answered at last is as any other", () => {
  const refusals = createSingleRefusals();
  refusals.heed("one", BARRED);
  refusals.heed("one", SENT);
  expect(refusals.heed("one", BARRED)).toBe(BARRED);
});

test("what cannot be reached, or is no answer, concerns no single message", () => {
  const refusals = createSingleRefusals();
  const gone: Judgement = { ...BARRED, reaction: { kind: "down", reason: "no connection" } };
  for (const judgement of [gone, gone]) {
    refusals.heed("other", SENT);
    expect(refusals.heed("one", judgement)).toBe(judgement);
  }
});

test("the 10,000 that were refused last are remembered", () => {
  const refusals = createSingleRefusals();
  for (let n = 0; n <= 10_000; n++) refusals.heed(`m${n}`, BARRED);
  refusals.heed("other", SENT);
  expect(refusals.heed("m0", BARRED)).toBe(BARRED);
  expect(refusals.heed("m10000", BARRED).reaction).toBeUndefined();
});
