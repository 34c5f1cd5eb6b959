import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import { COMMAND, type Pdu, responseTo } from "../wire/pdu.ts";
import { createRequests } from "./requests.ts";

const response = (commandId: number, sequence: number): Pdu => ({
  commandId,
  status: 0,
  sequence,
  body: Buffer.alloc(0),
});

test("after 0x7FFFFFFF comes 1", () => {
  const requests = createRequests(createHeldClock(), { first: 0x7ffffffe });
  const begin = () => requests.begin(COMMAND.submitSm, 1000).sequence;
  expect([begin(), begin(), begin(), begin()]).toEqual([0x7ffffffe, 0x7fffffff, 1, 2]);
});

test("numbers that come round again pass over those that still wait, also for a late answer", async () => {
  const clock = createHeldClock();
  const requests = createRequests(clock, { last: 5 });
  const late: string[] = [];
  const begin = (limitMs: number, name?: string) =>
    requests.begin(COMMAND.submitSm, limitMs, name ? () => late.push(name) : undefined);
  const waiting = begin(60_000);
  begin(1000, "first");
  for (let i = 3; i <= 5; i++) requests.answer(response(0x80000004, begin(60_000).sequence));
  await clock.advance(1000);
  const next = [begin(60_000), begin(60_000)];
  expect(next.map(({ sequence }) => sequence)).toEqual([3, 4]);
  requests.answer(response(0x80000004, 2));
  expect(late).toEqual(["first"]);
  requests.answer(response(0x80000004, 1));
  expect(await waiting.answer).toMatchObject({ kind: "answered", pdu: { sequence: 1 } });
  for (const { sequence } of next) requests.answer(response(0x80000004, sequence));
  expect(clock.pending()).toBe(0);
});

test("each request ends at its own limit, in whatever order they were begun", async () => {
  const clock = createHeldClock();
  const requests = createRequests(clock);
  const ended: number[] = [];
  for (const limitMs of [3000, 1000, 2000, 1000]) {
    void requests.begin(COMMAND.submitSm, limitMs).answer.then(() => ended.push(limitMs));
  }
  await clock.advance(999);
  expect(ended).toEqual([]);
  await clock.advance(1);
  expect(ended).toEqual([1000, 1000]);
  await clock.advance(1000);
  expect(ended).toEqual([1000, 1000, 2000]);
  await clock.advance(1000);
  expect(ended).toEqual([1000, 1000, 2000, 3000]);
  expect(clock.pending()).toBe(0);
});

test("an answer needs the right number and the right command, and counts once", async () => {
  const requests = createRequests(createHeldClock());
  const { sequence, answer } = requests.begin(COMMAND.submitSm, 1000);
  expect(requests.answer(response(0x80000004, sequence + 1))).toBe(false);
  expect(requests.answer(response(0x80000015, sequence))).toBe(false);
  expect(requests.answer(response(0x80000004, sequence))).toBe(true);
  expect(requests.answer(response(0x80000004, sequence))).toBe(false);
  expect(await answer).toMatchObject({ kind: "answered" });
});

test("a request ends with its time limit, or with the session, and leaves no timer behind", async () => {
  const clock = createHeldClock();
  const requests = createRequests(clock);
  const silent = requests.begin(COMMAND.submitSm, 1000);
  await clock.advance(1000);
  expect(await silent.answer).toEqual({ kind: "silent" });
  expect(requests.answer(response(0x80000004, silent.sequence))).toBe(false);
  const lost = requests.begin(COMMAND.submitSm, 1000);
  requests.lose("gone");
  expect(await lost.answer).toEqual({ kind: "lost", reason: "gone" });
  expect(await requests.begin(COMMAND.submitSm, 1000).answer).toEqual({ kind: "lost", reason: "gone" });
  expect(clock.pending()).toBe(0);
});

test("an answer out of time goes where late answers go, once, and only the right one", async () => {
  const clock = createHeldClock();
  const requests = createRequests(clock);
  const late: number[] = [];
  const { sequence, answer } = requests.begin(COMMAND.submitSm, 1000, (pdu) => late.push(pdu.status));
  await clock.advance(1000);
  expect(await answer).toEqual({ kind: "silent" });
  expect(requests.answer(response(responseTo(COMMAND.enquireLink), sequence))).toBe(false);
  expect(requests.answer(response(responseTo(COMMAND.submitSm), sequence))).toBe(true);
  expect(requests.answer(response(responseTo(COMMAND.submitSm), sequence))).toBe(false);
  expect(late).toEqual([0]);
});

test("of many that are out of time the oldest are forgotten", async () => {
  const clock = createHeldClock();
  const requests = createRequests(clock);
  let late = 0;
  for (let begun = 1; begun <= 10_001; begun++) {
    requests.begin(COMMAND.submitSm, 1000, () => late++);
    // Few at a time: the clock looks through all its timers for the next one.
    if (begun % 100 === 0) await clock.advance(1000);
  }
  await clock.advance(1000);
  for (let sequence = 1; sequence <= 10_001; sequence++) {
    requests.answer(response(responseTo(COMMAND.submitSm), sequence));
  }
  expect(late).toBe(10_000);
});
