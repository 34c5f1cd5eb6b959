import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { LONGEST_HELD_MS } from "./sender-line.ts";
import { createSenderPace, type Turn } from "./sender-pace.ts";

/** At a time that is far from zero, as on a machine that has run for a day. */
async function open(perSecond: number) {
  const clock = createHeldClock();
  await clock.advance(86_400_000);
  const startedAt = clock.monotonicMs();
  const pace = createSenderPace(clock, () => 0.5, { perSecond });
  const { signal } = new AbortController();
  const went: string[] = [];
  const held: number[] = [];
  const again = new Map<string, number>();
  /** `undefined`: it went at once, or is in line. */
  const ask = (
    id: string,
    over: { sender?: string; flow?: number; segments?: number; remainingMs?: number } = {},
  ) => {
    const askedAt = clock.monotonicMs();
    const settle = (turn: Turn) => {
      if (turn === undefined) went.push(`${id} ${clock.monotonicMs() - startedAt}`);
      else again.set(id, clock.monotonicMs() - startedAt + turn);
      return turn;
    };
    const asked = { sender: "A", flow: 1, segments: 1, remainingMs: 3_600_000, ...over };
    const turn = pace.turn({ ...asked, messageId: id, signal });
    if (!(turn instanceof Promise)) return settle(turn);
    void turn.then(settle).then(() => held.push(clock.monotonicMs() - askedAt));
    return undefined;
  };
  return { clock, signal, ask, went, held, again };
}

test("who has no time left is told how long it would have been: one of each other flow goes before each of its own", async () => {
  const { ask } = await open(10);
  ask("at once");
  for (const flow of [1, 1, 1, 2]) ask("waits", { flow });
  expect([500, 400, 300].map((remainingMs, n) => ask("late", { flow: n + 1, remainingMs }))).toEqual([
    500, 400, 300,
  ]);
});

test("many flows do not hold the slots of a sender longer than a few may: the next asks again", async () => {
  const { ask, again } = await open(10);
  for (let flow = 0; flow < 50; flow++) ask(String(flow), { flow });
  expect([...again.keys()]).toEqual(Array.from({ length: 29 }, (_, n) => String(21 + n)));
});

test("who waits longer than it was to, because other flows came, asks again after four seconds", async () => {
  const { ask, held, again, clock } = await open(10);
  for (let flow = 0; flow < 10; flow++) for (let n = 0; n < 30; n++) ask(`${flow} ${n}`, { flow });
  again.clear();
  await clock.advance(60_000);
  expect(again.size).toBeGreaterThan(0);
  expect(Math.max(...held)).toBe(LONGEST_HELD_MS);
});

test("those in line need one timer each and one for all, and none once they have gone", async () => {
  const { ask, clock, signal, went } = await open(10);
  for (let n = 0; n < 11; n++) ask(String(n));
  expect(clock.pending()).toBe(11);
  await clock.advance(500);
  expect([went.length, clock.pending()]).toEqual([6, 6]);
  await clock.advance(500);
  expect(went).toHaveLength(11);
  expect([clock.pending(), getEventListeners(signal, "abort").length]).toEqual([0, 0]);
});

test("who comes at the moment at which another may go does not go before it, nor beside it", async () => {
  const { ask, clock, went } = await open(10);
  clock.after(100, () => {
    ask("of another sender", { sender: "B" });
    ask("last");
  });
  ask("first");
  ask("second");
  await clock.advance(1000);
  expect(went).toEqual(["first 0", "of another sender 100", "second 100", "last 200"]);
});

test("senders keep to their rates also where their messages come in turns", async () => {
  const { ask, clock, went } = await open(10);
  for (const n of [1, 2, 3]) for (const sender of ["A", "B"]) ask(`${sender}${n}`, { sender });
  await clock.advance(1000);
  expect(went).toEqual(["A1 0", "B1 0", "A2 100", "B2 100", "A3 200", "B3 200"]);
});

test("who comes later, or again, does not overtake those of its flow that are to ask again", async () => {
  const { ask, clock, again, went } = await open(1);
  for (let n = 0; n < 20; n++) ask(String(n));
  const last = Math.max(...again.values());
  await clock.advance(2_500);
  ask("3");
  await clock.advance(500);
  expect(went.at(-1)).toBe("3 3000");
  ask("3");
  ask("late");
  expect([again.get("3"), again.get("late")]).toEqual([last + 1000, last + 2000]);
});

test("who asks again before its time keeps its place", async () => {
  const { ask, clock, again } = await open(1);
  for (let n = 0; n < 20; n++) ask(String(n));
  expect(again.get("10")).toBe(9_000);
  expect(ask("10")).toBe(2_000);
  await clock.advance(9_000);
  expect(ask("10")).toBeUndefined();
});

test("places that nobody came back for are given up after a minute, and are not endless until then", async () => {
  const { ask, clock } = await open(1);
  const crowd = (sender: string) => {
    ask(`${sender} first`, { sender, segments: 10 });
    return Array.from({ length: 20 }, (_, n) => ask(`${sender} ${n}`, { sender })!);
  };
  for (let sender = 0; sender < 500; sender++) crowd(String(sender));
  await clock.advance(crowd("too many")[0]!);
  expect(ask("too many 0", { sender: "too many" })).toBeNumber();
  await clock.advance(90_000);
  await clock.advance(crowd("later")[0]!);
  expect(ask("later 0", { sender: "later" })).toBeUndefined();
});

test("nothing is kept of senders that have sent, nor of messages that did not come back, while others go on", async () => {
  const clock = createHeldClock();
  const pace = createSenderPace(clock, () => 0.5, { perSecond: 10 });
  const { signal } = new AbortController();
  const ask = (sender: string, messageId: string, over: { flow?: number; segments?: number } = {}) =>
    pace.turn({ sender, messageId, flow: 1, segments: 30, remainingMs: 3_600_000, signal, ...over });
  const objects = () => {
    Bun.gc(true);
    return heapStats().objectCount;
  };
  const many = 20_000;
  const before = objects();
  void ask("always", "busy", { segments: 110 });
  for (let n = 0; n < many; n++) {
    if (n % 100 === 0) {
      await clock.advance(10_000);
      void ask("always", "busy", { segments: 100 });
      void ask("always", `waits ${n}`, { flow: 2 });
    }
    void ask(`sender ${n}`, `${n} goes`);
    void ask(`sender ${n}`, `${n} is put off`);
  }
  expect(objects() - before).toBeLessThan(many / 4);
  // What is used no more is not kept at all.
  expect(ask("another", "goes")).toBeUndefined();
});
