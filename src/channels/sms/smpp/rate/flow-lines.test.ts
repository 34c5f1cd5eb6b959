/** How the messages of one sender go before, after and between each other. */
import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import { type AskAgain, type AskedTurn, createSenderPace, type HeldTurn, isAskAgain } from "./sender-pace.ts";

/** At ten segments a second. */
function open(perSecond = 10) {
  const clock = createHeldClock();
  const pace = createSenderPace(clock, () => 0.5, { perSecond });
  const { signal } = new AbortController();
  const went: string[] = [];
  const ask = (messageId: string, over: Partial<AskedTurn> = {}) => {
    const asked = { sender: "A", flow: 1, isBegun: false, segments: 1, submits: 1, remainingMs: 60_000 };
    return pace.turn({ ...asked, messageId, signal, ...over });
  };
  const go = async (messageId: string, over: Partial<AskedTurn> = {}) => {
    const turn = await ask(messageId, over);
    if (isAskAgain(turn)) return;
    went.push(messageId);
    turn.gone();
    turn.end();
  };
  /** A message of several segments, of which the first may go at once. */
  const begin = (segments: number, over: Partial<AskedTurn> = {}) =>
    ask("long", { segments, submits: segments, ...over }) as HeldTurn;
  /** Milliseconds until one with these would go: it has no time left, and does not join. */
  const aheadMs = (over: Partial<AskedTurn> = {}) =>
    (ask("late", { remainingMs: 0, ...over }) as AskAgain).retryAfterMs;
  return { clock, went, ask, go, begin, aheadMs };
}

test("each flow that takes turns with a message makes its segments come the slower", () => {
  const { go, begin } = open();
  const turn = begin(3);
  expect(turn.intervalMs()).toBe(100);
  void go("other", { flow: 2 });
  expect(turn.intervalMs()).toBe(200);
});

test("before the rest of a message go only those of its flow that were begun, too", async () => {
  const { clock, go, begin, aheadMs } = open();
  const turn = begin(4);
  turn.gone();
  for (const id of ["1", "2", "3"]) void go(id);
  await clock.advance(0);
  expect([aheadMs(), aheadMs({ isBegun: true })]).toEqual([700, 400]);
});

test("a segment that did not go leaves its turn to the next, and is waited for no more", async () => {
  const { begin, aheadMs } = open();
  const turn = begin(4);
  expect(aheadMs()).toBe(400);
  expect(await turn.next(0)).toBe(true);
  expect(aheadMs()).toBe(300);
});

test("no message goes between the segments of another of its flow, even where the next is late to ask", async () => {
  const { clock, went, go, begin } = open();
  const turn = begin(2);
  turn.gone();
  void go("next");
  await clock.advance(1_000);
  expect(went).toEqual([]);
  const second = turn.next(0);
  expect(await second).toBe(true);
  turn.gone();
  turn.end();
  await clock.advance(100);
  expect(went).toEqual(["next"]);
});

test("messages of flows that take turns are put off for the time that both need", async () => {
  const { ask, begin } = open(1);
  begin(1);
  void ask("in line", { flow: 2 });
  void ask("in line, too");
  const [first, second] = [await ask("1"), await ask("2")] as [AskAgain, AskAgain];
  expect(second.retryAfterMs - first.retryAfterMs).toBe(2_000);
});

test("of flows that have not gone for long none is remembered: they take turns like new ones", async () => {
  const { clock, went, go, ask } = open(1_000);
  const turnsOf = async (flows: readonly number[]) => {
    went.length = 0;
    const turn = (await ask("holds the line", { flow: -1 })) as HeldTurn;
    for (const flow of flows) void go(String(flow), { flow });
    turn.gone();
    turn.end();
    await clock.advance(10);
    return [...went];
  };
  await go("1", { flow: 1 });
  await clock.advance(10);
  expect(await turnsOf([1, 2])).toEqual(["2", "1"]);
  for (let flow = 10; flow < 1_010; flow++) {
    await go(String(flow), { flow });
    await clock.advance(10);
  }
  expect(await turnsOf([1, 3])).toEqual(["1", "3"]);
});
