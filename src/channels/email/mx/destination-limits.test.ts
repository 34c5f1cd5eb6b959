import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { createDestinationLimits, type Entry } from "./destination-limits.ts";

const NEVER = new AbortController().signal;

function kinds(entries: readonly (Entry | undefined)[]): (string | undefined)[] {
  return entries.map((entry) => entry?.kind);
}

test("as many as allowed are inside at a time, and the next one goes in when one leaves", async () => {
  const limits = createDestinationLimits(createHeldClock(), { atATime: 2 });
  const [first] = await Promise.all([limits.enter(["a"], NEVER), limits.enter(["a"], NEVER)]);
  const third = limits.enter(["a"], NEVER);
  expect((await limits.enter(["b"], NEVER)).kind).toBe("in");
  if (first?.kind === "in") first.leave();
  expect((await third).kind).toBe("in");
});

test("whoever is still inside counts when another leaves", async () => {
  const limits = createDestinationLimits(createHeldClock(), { atATime: 2 });
  const [first] = await Promise.all([limits.enter(["a"], NEVER), limits.enter(["a"], NEVER)]);
  if (first?.kind === "in") first.leave();
  expect((await limits.enter(["a"], NEVER)).kind).toBe("in");
  expect(await Promise.race([limits.enter(["a"], NEVER), Promise.resolve("waits")])).toBe("waits");
});

test("a rate holds on when nobody is inside any more", async () => {
  const clock = createHeldClock();
  const limits = createDestinationLimits(clock, { atATime: 2, perSecond: 1 });
  const first = await limits.enter(["a"], NEVER);
  if (first.kind === "in") first.leave();
  let isIn = false;
  const second = limits.enter(["a"], NEVER).then(() => {
    isIn = true;
  });
  await clock.advance(999);
  expect(isIn).toBe(false);
  await clock.advance(1);
  await second;
});

test("a place that comes free is the first in line's, whoever comes at that moment", async () => {
  const limits = createDestinationLimits(createHeldClock(), { atATime: 1 });
  const inside = await limits.enter(["a"], NEVER);
  const waiting = limits.enter(["a"], NEVER);
  if (inside.kind === "in") inside.leave();
  const late = limits.enter(["a"], NEVER);
  expect((await waiting).kind).toBe("in");
  expect(await Promise.race([late, Promise.resolve("waits")])).toBe("waits");
});

test("the line is short, and nobody stands in it for longer than ten seconds", async () => {
  const clock = createHeldClock();
  const limits = createDestinationLimits(clock, { atATime: 1 });
  await limits.enter(["a"], NEVER);
  const waiting = [limits.enter(["a"], NEVER), limits.enter(["a"], NEVER)];
  expect((await limits.enter(["a"], NEVER)).kind).toBe("full");
  await clock.advance(10_000);
  expect(kinds(await Promise.all(waiting))).toEqual(["full", "full"]);
});

test("whoever is called off leaves the line, and his place goes to the next", async () => {
  const limits = createDestinationLimits(createHeldClock(), { atATime: 1 });
  const inside = await limits.enter(["a"], NEVER);
  const abort = new AbortController();
  const [gone, next] = [limits.enter(["a"], abort.signal), limits.enter(["a"], NEVER)];
  abort.abort("enough");
  expect((await gone).kind).toBe("full");
  if (inside.kind === "in") inside.leave();
  expect((await next).kind).toBe("in");
});

test("no more start in a second than allowed; who would wait too long comes back in time for its turn", async () => {
  const clock = createHeldClock();
  const limits = createDestinationLimits(clock, { atATime: 100, perSecond: 2 });
  const started: number[] = [];
  const waits: number[] = [];
  const enter = async (): Promise<void> => {
    const entry = await limits.enter(["a"], NEVER);
    if (entry.kind === "in") return void started.push(clock.monotonicMs());
    const waitMs = entry.book(60_000);
    waits.push(waitMs);
    clock.after(waitMs, () => void enter());
  };
  for (let n = 0; n < 25; n++) void enter();
  await clock.advance(0);
  await clock.advance(20_000);
  expect(started).toEqual(Array.from({ length: 25 }, (_, index) => index * 500));
  expect(waits).toHaveLength(4);
  // It may come up to a tenth later.
  expect(waits[0]).toBe(10_500 / 1.05);
});

test("the time spent in line counts for the rate", async () => {
  const clock = createHeldClock();
  const limits = createDestinationLimits(clock, { atATime: 1, perSecond: 1 });
  const leaves: (() => void)[] = [];
  const started: number[] = [];
  const enter = async () => {
    const entry = await limits.enter(["a"], NEVER);
    if (entry.kind !== "in") return;
    started.push(clock.monotonicMs());
    leaves.push(entry.leave);
  };
  const leaveAfter = async (ms: number) => {
    await clock.advance(ms);
    leaves.shift()?.();
    await clock.advance(0);
  };
  const entering = [enter(), enter(), enter()];
  await clock.advance(0);
  await leaveAfter(900);
  await clock.advance(100);
  await leaveAfter(5_000);
  await Promise.all(entering);
  expect(started).toEqual([0, 1_000, 6_000]);
  const fourth = enter();
  await leaveAfter(100);
  expect(started).toHaveLength(3);
  await clock.advance(900);
  await fourth;
  expect(started).toEqual([0, 1_000, 6_000, 7_000]);
});

test("nobody waits for longer than ten seconds, in line and for the rate together", async () => {
  const clock = createHeldClock();
  const limits = createDestinationLimits(clock, { atATime: 1, perSecond: 0.25 });
  const first = await limits.enter(["a"], NEVER);
  const [second, third] = [limits.enter(["a"], NEVER), limits.enter(["a"], NEVER)];
  await clock.advance(7_000);
  if (first.kind === "in") first.leave();
  const entered = await second;
  await clock.advance(1_000);
  if (entered.kind === "in") entered.leave();
  const full = await third;
  expect(full.kind).toBe("full");
  if (full.kind === "full") expect(full.book(60_000)).toBe(3_000 / 1.05);
  await clock.advance(3_000);
  expect((await limits.enter(["a"], NEVER)).kind).toBe("in");
});

test("nobody stands in a line in which the rate would let it wait for longer than ten seconds", async () => {
  const limits = createDestinationLimits(createHeldClock(), { atATime: 5, perSecond: 0.25 });
  for (let n = 0; n < 3; n++) void limits.enter(["a"], NEVER);
  expect((await limits.enter(["a"], NEVER)).kind).toBe("full");
  const one = createDestinationLimits(createHeldClock(), { atATime: 1, perSecond: 0.25 });
  for (let n = 0; n < 3; n++) void one.enter(["a"], NEVER);
  expect((await one.enter(["a"], NEVER)).kind).toBe("full");
});

test("who finds no place at one of several destinations takes no turn of another", async () => {
  const clock = createHeldClock();
  const limits = createDestinationLimits(clock, { atATime: 1, perSecond: 0.5 });
  await limits.enter(["full"], NEVER);
  const waiting = limits.enter(["a", "full"], NEVER);
  await clock.advance(0);
  await clock.advance(10_000);
  expect((await waiting).kind).toBe("full");
  const next = limits.enter(["a", "b"], NEVER);
  expect(await Promise.race([next, Bun.sleep(0).then(() => "waits")])).toMatchObject({ kind: "in" });
});

test("what two were in line for at the same time, at a destination each, they start one after the other by the rate of both", async () => {
  const clock = createHeldClock();
  const limits = createDestinationLimits(clock, { atATime: 2, perSecond: 1 });
  const inside = [];
  for (const each of ["b", "b", "c", "c"]) {
    const entering = limits.enter([each], NEVER);
    await clock.advance(1_000);
    inside.push(await entering);
  }
  const started: number[] = [];
  const entering = ["b", "c"].map(async (each) => {
    await limits.enter(["a", each], NEVER);
    started.push(clock.monotonicMs());
  });
  await clock.advance(5_000);
  const free = clock.monotonicMs();
  for (const entry of inside) if (entry.kind === "in") entry.leave();
  await clock.advance(0);
  await clock.advance(1_000);
  await Promise.all(entering);
  expect(started).toEqual([free, free + 1_000]);
});

test("where a destination takes fewer, only so many are inside, and those in line go in when it takes more again", async () => {
  let most = 5;
  const limits = createDestinationLimits(createHeldClock(), { atATime: 5 }, () => most);
  const inside = await Promise.all(Array.from({ length: 3 }, () => limits.enter(["a"], NEVER)));
  const leave = () => {
    const entry = inside.pop();
    if (entry?.kind === "in") entry.leave();
  };
  most = 2;
  const waiting = Array.from({ length: 3 }, () => limits.enter(["a"], NEVER));
  leave();
  expect(await Promise.race([...waiting, Bun.sleep(0).then(() => "waits")])).toBe("waits");
  leave();
  inside.push(await waiting[0]!);
  expect(await Promise.race([...waiting.slice(1), Bun.sleep(0).then(() => "waits")])).toBe("waits");
  most = 5;
  leave();
  expect(kinds(await Promise.all(waiting))).toEqual(["in", "in", "in"]);
});

test("who may go elsewhere stands in line where all places are taken, but not where the destination takes fewer", async () => {
  let most = 2;
  const limits = createDestinationLimits(createHeldClock(), { atATime: 2 }, () => most);
  const inside = await limits.enter(["a"], NEVER);
  await limits.enter(["a"], NEVER);
  const waiting = limits.enter(["a"], NEVER, true);
  if (inside.kind === "in") inside.leave();
  expect((await waiting).kind).toBe("in");
  most = 1;
  expect((await limits.enter(["a"], NEVER, true)).kind).toBe("full");
});
