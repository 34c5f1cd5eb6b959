import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import { LONGEST_IN_LINE_MS } from "./sender-line.ts";
import { createSenderPace, type HeldTurn, isAskAgain, type Turn } from "./sender-pace.ts";

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
      if (isAskAgain(turn)) {
        again.set(id, clock.monotonicMs() - startedAt + turn.retryAfterMs);
        return turn.retryAfterMs;
      }
      went.push(`${id} ${clock.monotonicMs() - startedAt}`);
      turn.gone();
      turn.end();
      return undefined;
    };
    const asked = {
      sender: "A",
      flow: 1,
      isBegun: false,
      segments: 1,
      submits: 1,
      remainingMs: 3_600_000,
      ...over,
    };
    const turn = pace.turn({ ...asked, messageId: id, signal });
    if (!(turn instanceof Promise)) return settle(turn);
    void turn.then(settle).then(() => held.push(clock.monotonicMs() - askedAt));
    return undefined;
  };
  const log = (what: string) => void went.push(`${what} ${clock.monotonicMs() - startedAt}`);
  return { pace, clock, signal, log, ask, went, held, again };
}

test("who has no time left is told how long it would have been: the flow served longest ago goes first", async () => {
  const { ask } = await open(10);
  ask("at once");
  for (const flow of [1, 1, 1, 2]) ask("waits", { flow });
  expect([500, 300, 200].map((remainingMs, n) => ask("late", { flow: n + 1, remainingMs }))).toEqual([
    500, 300, 200,
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
  expect(Math.max(...held)).toBe(LONGEST_IN_LINE_MS);
});

test("messages in a sender's line need one timer each and one for all, and none once they have gone", async () => {
  const { ask, clock, signal, went } = await open(10);
  for (let n = 0; n < 11; n++) ask(String(n));
  expect(clock.pending()).toBe(11);
  await clock.advance(500);
  expect([went.length, clock.pending()]).toEqual([6, 6]);
  await clock.advance(509);
  expect(went).toHaveLength(10);
  await clock.advance(1);
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

/** A message of several segments, each of which goes when its turn comes. */
async function goOn(turn: Turn | Promise<Turn>, segments: number, onGone: (segment: number) => void) {
  const held = await turn;
  if (isAskAgain(held)) return;
  for (let segment = 1; segment <= segments; segment++) {
    if (segment > 1 && !(await held.next(60_000))) break;
    onGone(segment);
    held.gone();
  }
  held.end();
}

test("flows take turns segment by segment, messages of one flow do not, and what was begun goes on first", async () => {
  const { pace, clock, signal, log, went } = await open(10);
  const begin = async (id: string, over: { flow: number; segments: number; isBegun?: boolean }) => {
    const asked = { sender: "A", messageId: id, isBegun: false, submits: over.segments, ...over };
    const turn = pace.turn({ ...asked, remainingMs: 3_600_000, signal });
    void goOn(turn, over.segments, (segment) => log(`${id}${segment}`));
    await clock.advance(0);
    await clock.advance(50);
  };
  await begin("long", { flow: 1, segments: 4 });
  await begin("otp", { flow: 2, segments: 1 });
  await clock.advance(150);
  await begin("next", { flow: 1, segments: 1 });
  await begin("rest", { flow: 1, segments: 2, isBegun: true });
  await begin("other", { flow: 2, segments: 1 });
  await clock.advance(1_000);
  expect(went).toEqual([
    ...["long1 0", "otp1 100", "long2 200", "long3 300", "other1 400", "long4 500"],
    ...["rest1 600", "rest2 700", "next1 800"],
  ]);
});

test("nothing of a sender goes while a segment whose turn it is has not gone, and a turn that ends leaves the rate to others", async () => {
  const { pace, ask, clock, signal, went } = await open(10);
  const asked = { sender: "A", flow: 1, isBegun: false, segments: 20, submits: 20, remainingMs: 60_000 };
  const turn = (await pace.turn({ ...asked, messageId: "long", signal })) as HeldTurn;
  ask("short", { flow: 2 });
  await clock.advance(1_000);
  expect(went).toEqual([]);
  turn.gone();
  await clock.advance(0);
  // A quarter of a second is made up for: the window has room.
  expect(went).toEqual(["short 1000"]);
  const second = turn.next(1_000);
  await clock.advance(50);
  expect([await second, turn.intervalMs()]).toEqual([true, 100]);
  ask("next");
  turn.end();
  await clock.advance(0);
  expect(went).toEqual(["short 1000", "next 1050"]);
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

test("bookings that nobody came back for are given up after a minute, and are not endless until then", async () => {
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
  const ask = (sender: string, messageId: string, over: { flow?: number; segments?: number } = {}) => {
    const given = { flow: 1, isBegun: false, segments: 30, submits: 1, remainingMs: 3_600_000, ...over };
    const turn = pace.turn({ sender, messageId, signal, ...given });
    if (turn instanceof Promise) return turn.then((later) => isAskAgain(later) || goes(later));
    return isAskAgain(turn) || goes(turn);
  };
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
  expect(ask("another", "goes")).toBe("went");
});

function goes(turn: HeldTurn) {
  turn.gone();
  turn.end();
  return "went";
}
