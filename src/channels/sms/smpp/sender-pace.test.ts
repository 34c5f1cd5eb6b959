import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { createSenderPace } from "./sender-pace.ts";

function open(perSecond: number | undefined, part?: () => number) {
  const clock = createHeldClock();
  const pace = createSenderPace(clock, () => 0.5, { perSecond, ...(part && { part }) });
  const ask = (sender: string, messageId: string, segments = 1) =>
    pace.waitMs({ sender, messageId, segments });
  return { clock, ask };
}

test("without a rate no sender waits", () => {
  const { ask } = open(undefined);
  for (let i = 0; i < 1000; i++) expect(ask("A", String(i))).toBe(0);
});

test("a sender's messages get their turns a rate apart, and another sender's do not wait for them", () => {
  const { ask } = open(10);
  const waits = Array.from({ length: 8 }, (_, i) => ask("A", String(i)));
  expect(waits).toEqual([0, 0, 0, 50, 150, 250, 350, 450]);
  expect(ask("B", "b")).toBe(0);
});

test("who comes back in its turn goes at once; before it, waits for the rest; and takes nobody else's", async () => {
  const { ask, clock } = open(1);
  expect(ask("A", "1")).toBe(0);
  expect(ask("A", "2")).toBe(750);
  expect(ask("A", "3")).toBe(1750);
  await clock.advance(300);
  expect(ask("A", "2")).toBe(450);
  await clock.advance(450);
  expect(ask("A", "2")).toBe(0);
  expect(ask("A", "4")).toBe(2000);
});

test("a turn is good for one segment, and who comes back a minute after it waits for another", async () => {
  const { ask, clock } = open(1);
  const waits = (...ids: string[]) => ids.map((id) => ask("A", id));
  expect(waits("1", "2", "3", "4")).toEqual([0, 750, 1750, 2750]);
  await clock.advance(2750);
  expect(waits("2", "2")).toEqual([0, 1000]);
  await clock.advance(120_000);
  expect(waits("2", "3", "4")).toEqual([0, 750, 1750]);
});

test("a process keeps senders to its part of their rate, and what it books while it has none is not endless", async () => {
  let part = 0.5;
  const { ask, clock } = open(10, () => part);
  expect(["1", "2", "3"].map((id) => ask("A", id))).toEqual([0, 0, 150]);
  await clock.advance(10_000);
  part = 0;
  expect(ask("A", "4")).toBe(0);
  part = 1;
  await clock.advance(10_000);
  expect(ask("A", "5")).toBe(0);
});

test("a long message counts by its segments", () => {
  const { ask } = open(10);
  expect(ask("A", "1", 10)).toBe(0);
  expect(ask("A", "2")).toBe(750);
});

test("a crowd gets turns half a minute ahead; the rest asks again later and holds no place", async () => {
  const { ask, clock } = open(10);
  const waits = Array.from({ length: 1000 }, (_, i) => ask("A", String(i)));
  expect(waits.filter((wait) => wait <= 30_000).length).toBeLessThanOrEqual(304);
  expect(waits.at(-1)).toBe(45_000);
  await clock.advance(45_000);
  expect(ask("A", "999")).toBe(0);
});

test("over any time a sender sends no more than its rate, whoever asks how often", async () => {
  const { ask, clock } = open(5);
  let sent = 0;
  let next = 0;
  let waiting: { id: string; dueAt: number }[] = [];
  for (let step = 0; step < 600; step++) {
    const now = clock.monotonicMs();
    const due = [...waiting.filter(({ dueAt }) => dueAt <= now).map(({ id }) => id), `new-${next++}`];
    waiting = waiting.filter(({ dueAt }) => dueAt > now);
    for (const id of due) {
      const waitMs = ask("A", id);
      if (waitMs === 0) sent++;
      else waiting.push({ id, dueAt: now + waitMs });
    }
    await clock.advance(100);
  }
  expect(sent).toBeLessThanOrEqual(60 * 5 + 2);
  expect(sent).toBeGreaterThan(60 * 5 * 0.9);
});
