import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import { createSenderPace, type HeldTurn, IN_LINE_MS, isAskAgain, type Turn } from "./sender-pace.ts";

const SINGLE = 0;
const BATCH = 1;

const SINGLE_SUBMIT = { isBegun: false, submits: 1 };

function open(perSecond: number, part?: () => number) {
  const clock = createHeldClock();
  const pace = createSenderPace(clock, () => 0.5, { perSecond, ...(part && { part }) });
  /** When each message went, in the order in which they did; and those that are to ask again, with when. */
  const went: { id: string; at: number }[] = [];
  const again = new Map<string, number>();
  const ask = (
    sender: string,
    id: string,
    over: { flow?: number; segments?: number; remainingMs?: number } = {},
  ) => {
    const given = { ...SINGLE_SUBMIT, flow: BATCH, segments: 1, remainingMs: 3_600_000, ...over };
    const { signal } = new AbortController();
    const now = () => clock.monotonicMs();
    const settle = (turn: Turn) => {
      if (isAskAgain(turn)) return void again.set(id, now() + turn.retryAfterMs);
      went.push({ id, at: now() });
      turn.gone();
      turn.end();
    };
    const turn = pace.turn({ sender, messageId: id, signal, ...given });
    if (turn instanceof Promise) {
      void turn.then(settle);
      return "in line";
    }
    settle(turn);
    return isAskAgain(turn) ? "again" : "now";
  };
  const comeBack = (sender: string) => {
    for (const [id, at] of again) {
      if (at > clock.monotonicMs()) continue;
      again.delete(id);
      ask(sender, id);
    }
  };
  return { clock, ask, went, again, comeBack };
}

test("a sender's messages go a rate apart, from the first on, and another sender's do not wait for them", async () => {
  const { ask, went, clock } = open(10);
  for (let i = 0; i < 5; i++) ask("A", String(i));
  expect(ask("B", "b")).toBe("now");
  const startedAt = clock.monotonicMs();
  for (let step = 0; step < 50; step++) await clock.advance(10);
  const ofA = went.filter(({ id }) => id !== "b").map(({ at }) => at - startedAt);
  expect(ofA).toEqual([0, 100, 200, 300, 400]);
});

test("who would wait longer than the line allows asks again in its turn, and goes then", async () => {
  const { ask, again, went, clock, comeBack } = open(1);
  for (let i = 0; i < 20; i++) ask("A", String(i));
  expect(again.size).toBe(17);
  const [first] = again.values();
  expect(first! - clock.monotonicMs()).toBe(3_000 - IN_LINE_MS / 2);
  for (let step = 0; step < 250; step++) {
    await clock.advance(100);
    comeBack("A");
  }
  expect(went.map(({ id }) => Number(id))).toEqual(Array.from({ length: 20 }, (_, i) => i));
});

test("where those that were put off do not come back, as another process has them, whoever comes may go", async () => {
  const { ask, clock, went } = open(1);
  for (let i = 0; i < 20; i++) ask("A", String(i));
  await clock.advance(2_400);
  expect(ask("A", "early")).toBe("again");
  await clock.advance(600);
  expect(ask("A", "late")).toBe("now");
  expect(went.map(({ id }) => id)).toEqual(["0", "1", "2", "late"]);
});

test("a one-time password does not wait for the campaign of its sender, and the campaign goes on beside it", async () => {
  const { ask, went, clock, comeBack } = open(10);
  for (let i = 0; i < 1000; i++) ask("A", `campaign-${i}`);
  await clock.advance(5_000);
  for (let second = 0; second < 10; second++) {
    const askedAt = clock.monotonicMs();
    ask("A", `otp-${second}`, { flow: SINGLE });
    for (let step = 0; step < 100; step++) {
      await clock.advance(10);
      comeBack("A");
    }
    const { at } = went.find(({ id }) => id === `otp-${second}`)!;
    expect(at - askedAt).toBeLessThanOrEqual(200);
  }
  expect(went.filter(({ id }) => id.startsWith("campaign")).length).toBeGreaterThan(80);
});

test("a process keeps senders to its part of their rate, and what it books while it has none is not endless", async () => {
  let part = 0.5;
  const { ask, went, clock } = open(10, () => part);
  const startedAt = clock.monotonicMs();
  for (const id of ["1", "2", "3"]) ask("A", id);
  for (let step = 0; step < 50; step++) await clock.advance(10);
  expect(went.map(({ at }) => at - startedAt)).toEqual([0, 200, 400]);
  await clock.advance(10_000);
  part = 0;
  expect(ask("A", "4")).toBe("now");
  part = 1;
  await clock.advance(10_000);
  expect(ask("A", "5")).toBe("now");
});

test("a process that had none of the rate for a moment goes on at once when it has its part again", async () => {
  let part = 1;
  const { ask, went, clock } = open(1, () => part);
  ask("A", "1");
  ask("A", "in line");
  await clock.advance(500);
  part = 0;
  await clock.advance(5_000);
  part = 1;
  for (const id of ["2", "3"]) ask("A", id);
  await clock.advance(2_000);
  expect(went.map(({ id }) => id)).toEqual(["1", "in line", "2", "3"]);
});

test("who waits while the part of its process is small goes soon after that has grown", async () => {
  let part = 1;
  const { ask, went, clock } = open(1, () => part);
  ask("A", "1");
  ask("A", "2");
  part = 0.1;
  await clock.advance(1_500);
  expect(went).toHaveLength(1);
  part = 1;
  await clock.advance(500);
  expect(went).toHaveLength(2);
});

test("a sender whose last segment went while the part of its process was small goes at the rate that it is now", async () => {
  let part = 0.1;
  const { ask, clock } = open(1, () => part);
  ask("A", "1");
  await clock.advance(100);
  part = 1;
  await clock.advance(1_500);
  expect(ask("A", "2")).toBe("now");
});

test("what two processes put off goes at nearly the whole rate, though it may come back to the other one", async () => {
  const clock = createHeldClock();
  const open = () => createSenderPace(clock, () => 0.5, { perSecond: 2, part: () => 0.5 });
  const paces = [open(), open()] as const;
  const asked = { ...SINGLE_SUBMIT, sender: "A", flow: BATCH, segments: 1, remainingMs: 3_600_000 };
  const { signal } = new AbortController();
  let went = 0;
  const ask = async (n: number, tries: number): Promise<void> => {
    const pace = (n >> tries) % 2 === 0 ? paces[0] : paces[1];
    const turn = await pace.turn({ ...asked, messageId: String(n), signal });
    if (isAskAgain(turn)) return void clock.after(turn.retryAfterMs, () => ask(n, tries + 1));
    went += 1;
    turn.gone();
    turn.end();
  };
  for (let n = 0; n < 60; n++) void ask(n, 0);
  await clock.advance(30_000);
  expect(went).toBeGreaterThan(47);
});

test("a long message counts by its segments", async () => {
  const { ask, went, clock } = open(10);
  const startedAt = clock.monotonicMs();
  ask("A", "1", { segments: 10 });
  ask("A", "2");
  await clock.advance(999);
  expect(went).toHaveLength(1);
  await clock.advance(1);
  expect(went[1]!.at - startedAt).toBe(1000);
});

test("if the part of the rate shrinks within a message, its next segment does not wait beyond the limit", async () => {
  let part = 1;
  const clock = createHeldClock();
  const pace = createSenderPace(clock, () => 0.5, { perSecond: 1, part: () => part });
  const { signal } = new AbortController();
  const asked = { sender: "A", messageId: "1", flow: BATCH, isBegun: false, segments: 3, submits: 3 };
  const turn = (await pace.turn({ ...asked, remainingMs: 60_000, signal })) as HeldTurn;
  turn.gone();
  const second = turn.next(5_000);
  await clock.advance(1_000);
  expect(await second).toBe(true);
  turn.gone();
  part = 0.1;
  expect(await turn.next(5_000)).toBe(false);
});

test("a crowd gets turns half a minute ahead; the rest asks again later and books nothing", async () => {
  const { ask, again, clock } = open(10);
  const startedAt = clock.monotonicMs();
  for (let i = 0; i < 1000; i++) ask("A", String(i));
  const waits = [...again.values()].map((at) => at - startedAt);
  expect(waits.filter((wait) => wait <= 30_000).length).toBeLessThanOrEqual(300);
  expect(waits.at(-1)).toBe(45_000);
  await clock.advance(45_000);
  expect(ask("A", "999")).toBe("now");
});

test("who has no time left for its turn takes none away", () => {
  const { ask, again, clock } = open(1);
  ask("A", "1");
  ask("A", "2", { remainingMs: 500 });
  expect(again.get("2")! - clock.monotonicMs()).toBe(1000);
  expect(ask("A", "3")).toBe("in line");
});

test("who is called off leaves the line", async () => {
  const clock = createHeldClock();
  const pace = createSenderPace(clock, () => 0.5, { perSecond: 1 });
  const asked = { ...SINGLE_SUBMIT, sender: "A", flow: BATCH, segments: 1, remainingMs: 60_000 };
  const { signal: kept } = new AbortController();
  const calledOff = new AbortController();
  const first = (await pace.turn({ ...asked, messageId: "1", signal: kept })) as HeldTurn;
  first.gone();
  first.end();
  const second = pace.turn({ ...asked, messageId: "2", signal: calledOff.signal });
  const third = pace.turn({ ...asked, messageId: "3", signal: kept });
  calledOff.abort();
  expect(isAskAgain(await second)).toBe(true);
  await clock.advance(1000);
  expect(await third).toBeObject();
  expect(isAskAgain(pace.turn({ ...asked, messageId: "4", signal: calledOff.signal }))).toBe(true);
});

test("over any second a sender sends no more than its rate, and over time no less, though repeats come early and late", async () => {
  const { ask, went, again, clock } = open(5);
  let next = 0;
  for (let step = 0; step < 6000; step++) {
    if (step % 10 === 0) ask("A", `new-${next++}`);
    for (const [id, at] of again) {
      const comesAt = at + ((Math.floor(at) % 5) - 2) * 400;
      if (comesAt > clock.monotonicMs()) continue;
      again.delete(id);
      ask("A", id);
    }
    await clock.advance(10);
  }
  const times = went.map(({ at }) => at);
  const spans = times.slice(5).map((at, n) => at - times[n]!);
  expect(Math.min(...spans)).toBeGreaterThanOrEqual(1000 - 20);
  expect(times.length).toBeGreaterThan(60 * 5 * 0.95);
});

test("a busy machine, whose timers are late, uses the whole rate, and no second has more", async () => {
  const { ask, went, clock } = open(20);
  for (let i = 0; i < 40; i++) ask("A", String(i));
  await clock.advance(2_100, { grainMs: 150 });
  const times = went.map(({ at }) => at);
  expect(times).toHaveLength(40);
  const spans = times.slice(20).map((at, n) => at - times[n]!);
  expect(Math.min(...spans)).toBeGreaterThanOrEqual(1000);
});
