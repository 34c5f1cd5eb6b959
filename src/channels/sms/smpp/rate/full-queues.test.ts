import { expect, test } from "bun:test";
import { createFullQueues } from "./full-queues.ts";

function refuse(queues: ReturnType<typeof createFullQueues>, numbers: readonly string[]): boolean {
  return numbers.map(queues.refused).some(Boolean);
}

test("three recipients that are refused one after the other mean the SMSC, and so does each that follows", () => {
  const queues = createFullQueues();
  expect(["+1", "+2", "+3", "+4"].map(queues.refused)).toEqual([false, false, true, true]);
  queues.taken("+5");
  expect(refuse(queues, ["+6", "+7"])).toBe(false);
});

test("recipients that are refused between others that are taken mean themselves", () => {
  const queues = createFullQueues();
  for (let n = 0; n < 100; n++) {
    expect(refuse(queues, [`+1${n}`, `+2${n}`])).toBe(false);
    queues.taken(`+3${n}`);
  }
});

test("one whose queue is known to be full says nothing new, until a message to it was taken", () => {
  const queues = createFullQueues();
  refuse(queues, ["+1", "+2"]);
  queues.taken("+3");
  expect(refuse(queues, ["+1", "+2", "+1", "+2"])).toBe(false);
  queues.taken("+1");
  expect(["+1", "+2", "+4", "+5"].map(queues.refused)).toEqual([false, false, false, true]);
});

test("twenty refusals with nothing taken between them mean the SMSC, whoever they are about", () => {
  const queues = createFullQueues();
  expect(Array.from({ length: 20 }, () => queues.refused("+1")).indexOf(true)).toBe(19);
});

test("of those that were refused the newest 5,000 are remembered", () => {
  const queues = createFullQueues();
  for (let n = 0; n < 5_001; n++) {
    queues.refused(`+1${n}`);
    queues.taken("+2");
  }
  expect(refuse(queues, ["+15000", "+14999", "+11"])).toBe(false);
  queues.taken("+2");
  expect(["+10", "+3", "+4"].map(queues.refused)).toEqual([false, false, true]);
});
