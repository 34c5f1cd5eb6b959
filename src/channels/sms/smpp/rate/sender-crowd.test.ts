/** Many more messages of a sender than its rate lets go soon: what their waiting costs, and whether the rate is used. */
import { expect, test } from "bun:test";
import { createDice } from "../../../../../test/chaos/dice.ts";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import { createSenderPace, isAskAgain, type Turn } from "./sender-pace.ts";

const DAY_MS = 86_400_000;

interface Crowd {
  readonly perSecond: number;
  readonly processes?: number;
  readonly flows?: number;
  readonly segments?: number;
  readonly windowMs?: number;
}

/** Messages of a sender. Whoever is to ask again does so in the second after its time, of any of the processes. */
function openCrowd({ perSecond, processes = 1, flows = 1, segments = 1, windowMs = 2 * DAY_MS }: Crowd) {
  const clock = createHeldClock();
  const dice = createDice("crowd");
  const rate = { perSecond, part: () => 1 / processes };
  const paces = Array.from({ length: processes }, () => createSenderPace(clock, dice.next, rate));
  const { signal } = new AbortController();
  /** Who asks again, by the second. */
  const again = new Map<number, string[]>();
  const seen = { asks: 0, went: 0, pauses: [] as number[] };
  const settle = (messageId: string, turn: Turn) => {
    if (isAskAgain(turn)) {
      seen.pauses.push(turn.retryAfterMs);
      const second = Math.ceil((clock.monotonicMs() + turn.retryAfterMs) / 1000);
      again.set(second, [...(again.get(second) ?? []), messageId]);
      return;
    }
    seen.went += 1;
    turn.gone();
    turn.end();
  };
  const ask = (messageId: string, remainingMs = windowMs - clock.monotonicMs()) => {
    seen.asks += 1;
    const flow = Number(messageId.split("-")[1]) % flows;
    const asked = {
      sender: "A",
      messageId,
      flow,
      isBegun: false,
      segments,
      submits: 1,
      remainingMs,
      signal,
    };
    const turn = dice.oneOf(paces).turn(asked);
    if (turn instanceof Promise) void turn.then((resolved) => settle(messageId, resolved));
    else settle(messageId, turn);
  };
  /** What was asked and what went in so many seconds. */
  const pass = async (seconds: number) => {
    seen.asks = 0;
    seen.went = 0;
    for (let n = 0; n < seconds; n++) {
      await clock.advance(1000);
      const second = clock.monotonicMs() / 1000;
      const back = again.get(second) ?? [];
      again.delete(second);
      for (const messageId of back) ask(messageId);
    }
    return { asks: seen.asks, went: seen.went };
  };
  const come = (messages: number) => {
    for (let n = 0; n < messages; n++) ask(`first-${n}`);
  };
  return { come, ask, pass, seen };
}

/** Of what goes, how often it asks, at most: four times in the crowd, and once or twice for its place in the line. */
const ASKS = 7;

test("what waits for a sender's rate asks in proportion to the rate and not to its number, and the rate is used", async () => {
  for (const messages of [2_000, 8_000]) {
    const crowd = openCrowd({ perSecond: 2 });
    crowd.come(messages);
    await crowd.pass(120);
    const { asks, went } = await crowd.pass(780);
    // A second has a margin of 10 ms.
    expect(went).toBeGreaterThanOrEqual(Math.floor((2 * 780) / 1.01));
    expect(asks).toBeLessThanOrEqual(went * ASKS);
  }
});

test("a crowd ends within a minute of the time that its rate takes, although it asked seldom at first", async () => {
  const crowd = openCrowd({ perSecond: 5 });
  crowd.come(5_000);
  await crowd.pass(5_000 / 5 + 60);
  const { asks } = await crowd.pass(60);
  expect(asks).toBe(0);
});

test("messages of several segments wait in proportion to their segments", async () => {
  const crowd = openCrowd({ perSecond: 6, segments: 3 });
  crowd.come(2_000);
  await crowd.pass(120);
  const { asks, went } = await crowd.pass(480);
  expect(went).toBeGreaterThanOrEqual(2 * 480 * 0.98);
  expect(asks).toBeLessThanOrEqual(went * ASKS);
});

test("two crowds of a sender wait in proportion to what each gets of its rate", async () => {
  const crowd = openCrowd({ perSecond: 4, flows: 2 });
  crowd.come(8_000);
  await crowd.pass(120);
  const { asks, went } = await crowd.pass(480);
  expect(went).toBeGreaterThanOrEqual(4 * 480 * 0.98);
  expect(asks).toBeLessThanOrEqual(went * ASKS);
});

test("a crowd that two processes share uses the whole rate", async () => {
  const crowd = openCrowd({ perSecond: 10, processes: 2 });
  crowd.come(10_000);
  await crowd.pass(120);
  const { asks, went } = await crowd.pass(300);
  expect(went).toBeGreaterThanOrEqual(10 * 300 * 0.98);
  expect(asks).toBeLessThanOrEqual(2 * went * ASKS);
});

test("no message of a crowd stays away for longer than half an hour, or a quarter of its window", async () => {
  const crowd = openCrowd({ perSecond: 1 });
  crowd.come(50_000);
  expect(Math.max(...crowd.seen.pauses)).toBeGreaterThan(1_500_000);
  expect(Math.max(...crowd.seen.pauses)).toBeLessThanOrEqual(1_800_000);
  crowd.seen.pauses.length = 0;
  for (let n = 0; n < 100; n++) crowd.ask(`otp-${n}`, 400_000);
  expect(Math.max(...crowd.seen.pauses)).toBeGreaterThan(90_000);
  expect(Math.max(...crowd.seen.pauses)).toBeLessThanOrEqual(100_000);
});

test("messages with little time left ask again as if there were no crowd", () => {
  const crowd = openCrowd({ perSecond: 1 });
  crowd.come(10_000);
  crowd.seen.pauses.length = 0;
  for (let n = 0; n < 100; n++) crowd.ask(`otp-${n}`, 60_000);
  expect(Math.min(...crowd.seen.pauses)).toBeGreaterThanOrEqual(30_000);
  expect(Math.max(...crowd.seen.pauses)).toBeLessThanOrEqual(60_000);
});
