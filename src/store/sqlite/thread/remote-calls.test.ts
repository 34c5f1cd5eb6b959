import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { createRemoteCalls } from "./remote-calls.ts";
import type { Call } from "./thread-messages.ts";

const SLOW_MS = 10;

/** The methods that take long, and are still at it when the others of their batch are answered. */
const LONG = ["outbox.replayAll", "records.remove"];

/** The other thread: what it was sent, batch by batch. */
function open() {
  const clock = createHeldClock();
  const batches: (readonly Call[])[] = [];
  const calls = createRemoteCalls(({ plain, others }) => void batches.push([...plain, ...others]), clock);
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    clock,
    sizes: () => batches.map((batch) => batch.length),
    async make(count: number, method = "intake.accept") {
      for (let index = 0; index < count; index++) void calls.call(method);
      await turn();
    },
    async makeLong() {
      for (const method of LONG) void calls.callLong(method);
      await turn();
    },
    async answer(index: number) {
      const done = (batches[index] ?? []).flatMap(([id, method]) => (LONG.includes(method) ? [] : [id]));
      calls.answer({ done, values: [], ready: [], events: [], lanes: [] });
      await turn();
    },
  };
}

/** One whose last commit was slow, and carried eight accepts. */
async function openSlow() {
  const ground = open();
  await ground.make(8);
  await ground.clock.advance(SLOW_MS);
  await ground.answer(0);
  return ground;
}

test("while a batch is committed the next leaves once it carries its share, and no third", async () => {
  const { make, sizes, answer } = open();
  await make(6);
  await make(3);
  expect(sizes()).toEqual([6]);
  await make(2);
  expect(sizes()).toEqual([6, 5]);
  await make(20);
  expect(sizes()).toEqual([6, 5]);
  await answer(0);
  expect(sizes()).toEqual([6, 5, 20]);
});

test("what carries less than its share leaves after two milliseconds", async () => {
  const { make, sizes, clock } = open();
  await make(6);
  await make(1);
  await clock.advance(1);
  expect(sizes()).toEqual([6]);
  await clock.advance(1);
  expect(sizes()).toEqual([6, 1]);
});

test("where commits are slow accepts wait for those who are about to come back, two milliseconds at the longest", async () => {
  const { make, sizes, clock, answer } = await openSlow();
  await make(5);
  expect(sizes()).toEqual([8]);
  await make(3);
  expect(sizes()).toEqual([8, 8]);
  await make(8);
  expect(sizes()).toEqual([8, 8]);
  await clock.advance(SLOW_MS);
  await answer(1);
  expect(sizes()).toEqual([8, 8, 8]);
  await clock.advance(SLOW_MS);
  await answer(2);
  await make(1);
  expect(sizes()).toEqual([8, 8, 8]);
  await clock.advance(2);
  expect(sizes()).toEqual([8, 8, 8, 1]);
});

test("where commits are slow a claim waits for nobody", async () => {
  const { make, sizes } = await openSlow();
  await make(1);
  expect(sizes()).toEqual([8]);
  await make(1, "queue.claim");
  expect(sizes()).toEqual([8, 2]);
});

test("calls that take long hold up no batch, beside others as by themselves", async () => {
  const { make, makeLong, sizes, clock, answer } = await openSlow();
  await makeLong();
  expect(sizes()).toEqual([8, 2]);
  const beside = make(6);
  await makeLong();
  await beside;
  expect(sizes()).toEqual([8, 2, 8]);
  await make(8);
  expect(sizes()).toEqual([8, 2, 8]);
  await clock.advance(SLOW_MS);
  await answer(2);
  expect(sizes()).toEqual([8, 2, 8, 8]);
});
