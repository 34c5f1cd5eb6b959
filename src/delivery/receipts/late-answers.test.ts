import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { StoreUnavailable } from "../../store/store.ts";
import { createLateAnswers } from "./late-answers.ts";

function rig() {
  const stored: string[] = [];
  const warned: string[] = [];
  const isOpen = Promise.withResolvers<void>();
  const take = createLateAnswers({
    clock: createHeldClock(),
    log: { info() {}, warn: (_, words) => void warned.push(words) },
    signal: new AbortController().signal,
    receipts: {
      async recordLateAnswer({ messageId }) {
        await isOpen.promise;
        stored.push(messageId);
      },
      recordLateRefusal: async () => true,
    },
  });
  const answer = (count: number) => {
    for (let index = 0; index < count; index++) {
      void take({
        messageId: `m-${index}`,
        part: 0,
        parts: 1,
        connectorId: "c-1",
        providerMessageIds: ["x"],
      });
    }
  };
  const settled = async () => {
    isOpen.resolve();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { stored, warned, answer, settled };
}

test("an SMSC that answers all it owes at once is heeded in all of it", async () => {
  const { stored, warned, answer, settled } = rig();
  answer(5_000);
  await settled();
  expect(stored).toHaveLength(5_000);
  expect(warned).toEqual([]);
});

test("what is more than can wait is given up, and told", async () => {
  const { stored, warned, answer, settled } = rig();
  answer(10_002);
  await settled();
  expect(stored).toHaveLength(10_000);
  expect(warned).toEqual(Array(2).fill("a late answer was dropped: too many are waiting"));
});

test("late answers that are stored make room for others", async () => {
  const { stored, answer, settled } = rig();
  answer(10_000);
  await settled();
  answer(10);
  await settled();
  expect(stored).toHaveLength(10_010);
});

test("while the database is away an answer waits, until it is back or nothing can be stored any more", async () => {
  for (const isBack of [true, false]) {
    const clock = createHeldClock();
    const stopped = new AbortController();
    const told: string[] = [];
    const awayMs = 600_000;
    const store = async () => {
      if (!isBack || clock.monotonicMs() < awayMs) throw new StoreUnavailable("away");
      return true;
    };
    const take = createLateAnswers({
      clock,
      signal: stopped.signal,
      log: { info: () => void told.push("stored"), warn: () => void told.push("given up") },
      receipts: { recordLateAnswer: async () => void (await store()), recordLateRefusal: store },
    });
    const of = { messageId: "m", part: 0, connectorId: "c-1" };
    void take({ ...of, parts: 1, providerMessageIds: ["x"] });
    void take({ ...of, claim: 1, outcome: { kind: "rejected", error: { code: "c", message: "m" } } });
    await clock.advance(awayMs - 1_000);
    expect(told).toEqual([]);
    await clock.advance(2_000);
    if (!isBack) stopped.abort();
    await clock.advance(0);
    expect([told, clock.pending()]).toEqual([Array(2).fill(isBack ? "stored" : "given up"), 0]);
  }
});

test("a refusal waits for the end of an attempt that is under way, for two minutes while the database is there", async () => {
  const isStored = "a late answer: the provider had not taken the message";
  const isGivenUp = "a late answer could not be stored";
  for (const [awayMs, busyMs, expected] of [
    [0, 60_000, isStored],
    [0, 150_000, isGivenUp],
    [600_000, 60_000, isStored],
    [600_000, 150_000, isGivenUp],
  ] as const) {
    const clock = createHeldClock();
    const told: string[] = [];
    const tell = (_: unknown, words: string) => void told.push(words);
    const take = createLateAnswers({
      clock,
      signal: new AbortController().signal,
      log: { info: tell, warn: tell },
      receipts: {
        async recordLateAnswer() {},
        async recordLateRefusal() {
          if (clock.monotonicMs() < awayMs) throw new StoreUnavailable("away");
          return clock.monotonicMs() >= awayMs + busyMs;
        },
      },
    });
    const error = { code: "smpp.0x0000000b", message: "invalid destination" };
    const outcome = { kind: "rejected", error } as const;
    void take({ messageId: "m", part: 0, claim: 1, connectorId: "c-1", outcome });
    await clock.advance(0);
    await clock.advance(awayMs + 200_000);
    expect([told, clock.pending()]).toEqual([[expected], 0]);
  }
});
