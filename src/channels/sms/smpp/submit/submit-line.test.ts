import { expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import { createPace } from "../rate/pace.ts";
import type { Session } from "../session/session.ts";
import { createSubmitWindow } from "../session/submit-window.ts";
import { createSubmitLine } from "./submit-line.ts";

const signal = new AbortController().signal;
const limit = { waitMs: 1000, signal };

function open({ sizes = [1], perSecond }: { sizes?: number[]; perSecond?: number } = {}) {
  const clock = createHeldClock();
  let freed = 0;
  const sessions = sizes.map(
    (size) =>
      ({
        slots: createSubmitWindow(
          () => size,
          () => line.serve(),
        ),
      }) as Session,
  );
  const line = createSubmitLine({
    clock,
    pace: createPace(clock, perSecond),
    sessions: () => sessions,
    onFree: () => freed++,
  });
  return { clock, line, sessions, freed: () => freed };
}

test("slots go out up to the size, then to those in line, first come first served", async () => {
  const { line, sessions, clock } = open({ sizes: [2] });
  expect(await line.take(limit)).toBe(sessions[0]!);
  expect(await line.take(limit)).toBe(sessions[0]!);
  const served: string[] = [];
  const first = Promise.resolve(line.take(limit)).then(() => served.push("first"));
  const second = Promise.resolve(line.take(limit)).then(() => served.push("second"));
  sessions[0]!.slots.giveBack();
  await first;
  expect(served).toEqual(["first"]);
  sessions[0]!.slots.giveBack();
  await second;
  expect(served).toEqual(["first", "second"]);
  expect(clock.pending()).toBe(0);
});

test("sessions fill evenly, and one without a free slot is passed over", async () => {
  const { line, sessions } = open({ sizes: [1, 3] });
  const taken = [];
  for (let i = 0; i < 4; i++) taken.push(sessions.indexOf((await line.take(limit))!));
  expect(taken).toEqual([1, 1, 0, 1]);
  expect(line.free()).toBe(0);
});

test("who waits for one session leaves the others to those behind, and counts against none of their slots", async () => {
  const { line, sessions, clock } = open({ sizes: [1, 3] });
  const [small, large] = sessions;
  expect(await line.take({ ...limit, over: small })).toBe(small!);
  const waiting = line.take({ ...limit, over: small });
  expect(line.free()).toBe(3);
  expect(await line.take(limit)).toBe(large!);
  expect(line.free()).toBe(2);
  small!.slots.giveBack();
  expect(await waiting).toBe(small!);
  expect(line.free()).toBe(2);
  expect(clock.pending()).toBe(0);
});

test("however many wait for a session that is full, those for others cost no more", async () => {
  const { line, sessions } = open({ sizes: [1, 2] });
  const [full, other] = sessions;
  await line.take({ ...limit, over: full });
  const waiting = Array.from({ length: 500 }, () => line.take({ ...limit, isBegun: true, over: full }));
  const { free } = full!.slots;
  let looks = 0;
  full!.slots.free = () => {
    looks++;
    return free();
  };
  expect(await line.take(limit)).toBe(other!);
  other!.slots.giveBack();
  expect(looks).toBeLessThan(20);
  full!.slots.giveBack();
  expect(await waiting[0]).toBe(full!);
  full!.slots.close();
  other!.slots.close();
  expect(await Promise.all(waiting.slice(3))).toEqual(Array(497).fill(undefined));
});

test("who waits for a session that is full leaves the rate to those behind, and goes first once it has a slot", async () => {
  const { line, sessions, clock } = open({ sizes: [1, 1], perSecond: 2 });
  const [full, other] = sessions;
  await line.take({ ...limit, over: full });
  await clock.advance(1_000);
  const waiting = line.take({ ...limit, waitMs: 10_000, isBegun: true, over: full });
  expect(line.free()).toBe(1);
  expect(await line.take(limit)).toBe(other!);
  other!.slots.giveBack();
  full!.slots.giveBack();
  const behind = line.take({ ...limit, waitMs: 10_000 });
  expect(line.free()).toBe(0);
  await clock.advance(500);
  expect(await waiting).toBe(full!);
  await clock.advance(500);
  expect(await behind).toBe(other!);
});

test("who waits for a session that closes takes another", async () => {
  const { line, sessions } = open({ sizes: [1, 1] });
  const [first, second] = sessions;
  await line.take({ ...limit, over: first });
  const waiting = line.take({ ...limit, over: first });
  first!.slots.close();
  expect(await waiting).toBe(second!);
});

test("who waits too long, or no longer wants to, is refused, and no slot is lost by it", async () => {
  const { line, sessions, clock } = open();
  await line.take(limit);
  const tooLong = line.take(limit);
  await clock.advance(1000);
  expect(await tooLong).toBeUndefined();
  const controller = new AbortController();
  const aborted = line.take({ waitMs: 1000, signal: controller.signal });
  controller.abort();
  expect(await aborted).toBeUndefined();
  sessions[0]!.slots.giveBack();
  expect(line.free()).toBe(1);
  expect(clock.pending()).toBe(0);
});

test("the line is no longer than the windows", async () => {
  const { line, sessions } = open({ sizes: [1, 1] });
  await line.take(limit);
  await line.take(limit);
  const inLine = [line.take(limit), line.take(limit)];
  expect(await line.take(limit)).toBeUndefined();
  for (const { slots } of sessions) slots.giveBack();
  expect(await Promise.all(inLine)).toEqual(sessions);
});

test("of a message that is begun the next segment finds room in the line, however long it is", async () => {
  const { line, sessions } = open();
  await line.take(limit);
  const inLine = line.take(limit);
  const begun = line.take({ ...limit, isBegun: true });
  expect(await line.take(limit)).toBeUndefined();
  sessions[0]!.slots.giveBack();
  await inLine;
  sessions[0]!.slots.giveBack();
  expect(await begun).toBe(sessions[0]!);
  sessions[0]!.slots.close();
  expect(await line.take({ ...limit, isBegun: true })).toBeUndefined();
});

test("where the pace is in the way, the line is served when it allows, without any other word", async () => {
  const { line, clock, freed } = open({ sizes: [10], perSecond: 2 });
  await line.take(limit);
  const inLine = line.take(limit);
  await clock.advance(499);
  expect(line.free()).toBe(0);
  await clock.advance(1);
  expect(await inLine).toBeDefined();
  const before = freed();
  await clock.advance(500);
  expect(freed()).toBe(before + 1);
  expect(line.free()).toBe(1);
});

test("nobody overtakes those in line, not even when the pace has just allowed one more", async () => {
  const { line, clock } = open({ sizes: [1000], perSecond: 1000 });
  // A quarter of a second's worth, which may go at once.
  for (let i = 0; i < 250; i++) await line.take(limit);
  const served: string[] = [];
  const join = (name: string) => Promise.resolve(line.take(limit)).then(() => served.push(name));
  const first = join("first");
  await clock.advance(5);
  const second = join("second");
  await clock.advance(5);
  expect(served).toEqual([]);
  await clock.advance(10);
  await Promise.all([first, second]);
  expect(served).toEqual(["first", "second"]);
});

test("nobody is told of free slots while there are none", async () => {
  const { line, freed } = open();
  await line.take(limit);
  line.serve();
  expect(freed()).toBe(0);
});

test("whoever was served, or refused, listens to its signal no longer", async () => {
  const { line, sessions, clock } = open();
  const { signal } = new AbortController();
  await line.take({ waitMs: 1000, signal });
  const [first, second] = [line.take({ waitMs: 1000, signal }), line.take({ waitMs: 1000, signal })];
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  sessions[0]!.slots.giveBack();
  expect(await first).toBe(sessions[0]!);
  expect(await second).toBeUndefined();
  const late = line.take({ waitMs: 1000, signal });
  await clock.advance(1000);
  expect(await late).toBeUndefined();
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("the session that comes after the last one is served at the pace again", async () => {
  const { line, sessions, clock } = open({ sizes: [1], perSecond: 2 });
  await line.take(limit);
  const refused = line.take(limit);
  sessions[0]!.slots.close();
  expect(await refused).toBeUndefined();
  sessions.splice(0, 1, {
    slots: createSubmitWindow(
      () => 1,
      () => line.serve(),
    ),
  } as Session);
  const served = line.take(limit);
  await clock.advance(500);
  expect(await served).toBe(sessions[0]!);
});

test("when the last session is left, those in line are refused, and no timer stays", async () => {
  const { line, sessions, clock } = open({ sizes: [1, 1], perSecond: 1 });
  await line.take({ ...limit, waitMs: 60_000 });
  const inLine = line.take({ ...limit, waitMs: 60_000 });
  sessions[0]!.slots.close();
  let isOver = false;
  void Promise.resolve(inLine).then(() => {
    isOver = true;
  });
  await clock.advance(0);
  expect(isOver).toBe(false);
  sessions[1]!.slots.close();
  expect(await inLine).toBeUndefined();
  expect(await line.take(limit)).toBeUndefined();
  expect(clock.pending()).toBe(0);
});

test("a closed window is drained when the last slot is back, also where none was taken before", async () => {
  const { line, sessions, clock } = open();
  const [{ slots }] = sessions as [Session];
  await line.take(limit);
  slots.giveBack();
  await line.take(limit);
  let isDrained = false;
  slots.close();
  const drained = slots.drained().then(() => {
    isDrained = true;
  });
  await clock.advance(0);
  expect(isDrained).toBe(false);
  slots.giveBack();
  await drained;
  expect(slots.free()).toBe(0);
});
