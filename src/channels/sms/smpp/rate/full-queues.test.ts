import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import { createFullQueues } from "./full-queues.ts";

type Queues = ReturnType<typeof createFullQueues>;

const open = (clock = createHeldClock()) => createFullQueues(clock, 30_000);

/** A segment of a message of its own, unless one is given. */
const one = (to: string, messageId = to) => ({ to, messageId });

/** For each of the refusals whether they seem to mean the SMSC. */
function meanSmsc(queues: Queues, numbers: readonly string[]): readonly boolean[] {
  return numbers.map((number) => queues.refused(one(number)).isOfSmsc);
}

function refuse(queues: Queues, numbers: readonly string[]): boolean {
  return meanSmsc(queues, numbers).includes(true);
}

test("three recipients that are refused one after the other mean the SMSC, and so does each that follows", () => {
  const queues = open();
  expect(meanSmsc(queues, ["+1", "+2", "+3", "+4"])).toEqual([false, false, true, true]);
  queues.taken(one("+5"));
  expect(refuse(queues, ["+6", "+7"])).toBe(false);
});

test("recipients that are refused between others that are taken mean themselves", () => {
  const queues = open();
  for (let n = 0; n < 100; n++) {
    expect(refuse(queues, [`+1${n}`, `+2${n}`])).toBe(false);
    queues.taken(one(`+3${n}`));
  }
});

test("a recipient whose queue is known to be full says nothing new, until a message to it was taken", () => {
  const queues = open();
  refuse(queues, ["+1", "+2"]);
  queues.taken(one("+3"));
  expect(refuse(queues, ["+1", "+2", "+1", "+2"])).toBe(false);
  queues.taken(one("+1"));
  expect(meanSmsc(queues, ["+1", "+2", "+4", "+5"])).toEqual([false, false, false, true]);
});

test("however many are refused whose queues are known to be full, with nothing taken between them, they mean themselves", () => {
  const queues = open();
  const off = Array.from({ length: 50 }, (_, n) => `+1${n}`);
  for (const number of off) {
    queues.refused(one(number));
    queues.taken(one("+2"));
  }
  expect(refuse(queues, [...off, ...off])).toBe(false);
  expect(meanSmsc(queues, ["+3", "+4", "+5", "+3", "+6"])).toEqual([false, false, true, false, true]);
});

test("a message that is refused again and again is tried ever more rarely, and at first again once it was not", async () => {
  const clock = createHeldClock();
  const queues = open(clock);
  for (let round = 0; round < 2; round++) {
    for (const seconds of [30, 30, 30, 30, 60, 120, 240, 480, 600, 600]) {
      // Several segments are refused at once.
      const waits = [1, 2, 3].map(() => queues.refused(one("+1")).waitMs);
      expect(waits).toEqual(Array(3).fill(seconds * 1000));
      await clock.advance(seconds * 1000);
    }
    expect(queues.refused(one("+2")).waitMs).toBe(30_000);
    queues.taken(one("+1"));
    queues.taken(one("+2"));
  }
});

test("another message to a recipient whose queue has long been full begins with short waits", async () => {
  const clock = createHeldClock();
  const queues = open(clock);
  for (let tries = 0; tries < 10; tries++) {
    queues.refused(one("+1", "news"));
    await clock.advance(600_000);
  }
  expect(queues.refused(one("+1", "password")).waitMs).toBe(30_000);
  expect(queues.refused(one("+1", "news")).waitMs).toBe(600_000);
});

test("the 20,000 who were refused last are remembered", () => {
  const queues = open();
  queues.refused(one("+3"));
  for (let n = 0; n < 20_000; n++) {
    queues.refused(one(`+1${n}`));
    queues.taken(one("+2"));
    if (n === 0) queues.refused(one("+3"));
  }
  expect(refuse(queues, ["+119999", "+11", "+3"])).toBe(false);
  queues.taken(one("+2"));
  expect(meanSmsc(queues, ["+10", "+4", "+5"])).toEqual([false, false, true]);
});

test("once the SMSC's own queue seemed to be full, those known to be full speak against it as well, until it takes a segment", () => {
  const queues = open();
  const ofAll = (...numbers: string[]) => numbers.map((number) => queues.refused(one(number)).isOfAll);
  expect(ofAll("+1", "+2", "+1", "+2")).toEqual([false, false, false, false]);
  expect(ofAll("+3", "+1", "+2")).toEqual([true, true, true]);
  queues.taken(one("+4"));
  expect(ofAll("+1", "+2", "+3")).toEqual([false, false, false]);
});
