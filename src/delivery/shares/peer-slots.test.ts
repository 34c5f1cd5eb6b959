/** What processes without a slot of a connector know of it: that it is up elsewhere, on its way, or down. */
import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createLeases } from "../../store/sqlite/queue/leases.ts";
import type { LeaseStore } from "../../store/store.ts";
import type { OwnShare } from "./own-shares.ts";
import { createPeerSlots, MOVE_MS } from "./peer-slots.ts";
import { createShares, DEAD_MS, HEARTBEAT_MS, type Shares } from "./shares.ts";

interface Process {
  readonly shares: Shares;
  readonly share: OwnShare;
  /** What its channel says of itself. */
  readonly channel: { isUp: boolean };
  /** Its way to the database is cut: it has no heartbeat. */
  isCut: boolean;
}

/** Processes on one clock that share the only slot of a connector. */
function open() {
  const clock = createHeldClock();
  const leases = createLeases();
  const processes = new Set<Process>();
  const start = (process: string, dead: readonly string[] = []): Process => {
    const reach = async () => {
      if (one.isCut) throw new Error("away");
    };
    const reached: LeaseStore = {
      heartbeat: (beat) => reach().then(() => leases.heartbeat(beat)),
      leave: (name) => reach().then(() => leases.leave(name)),
    };
    const log = { warn() {} };
    const shares = createShares({ leases: reached, clock, log, process, isSharing: true, dead });
    void shares.start();
    const share = shares.join("smsc", 1);
    const channel = { isUp: true };
    share.tellUp(() => channel.isUp);
    const one = { shares, share, channel, isCut: false };
    processes.add(one);
    return one;
  };
  const holder = () => [...processes].find(({ share }) => share.held().size > 0);
  return {
    clock,
    start,
    /** The process that holds the slot once all know that it is up, and the others. */
    async settled(): Promise<readonly [Process, ...Process[]]> {
      await clock.advance(5 * HEARTBEAT_MS);
      const own = holder()!;
      return [own, ...[...processes].filter((each) => each !== own)];
    },
    holder,
    async stop(one: Process) {
      processes.delete(one);
      one.share.close();
      await one.shares.stop();
    },
  };
}

const isAwaited = ({ shares }: Process) => shares.isUpElsewhere("smsc") || shares.isMoving("smsc");

/** For how many milliseconds messages wait for the connector at a process, from now on. */
async function awaitedMs({ clock }: ReturnType<typeof open>, process: Process): Promise<number> {
  const fromMs = clock.monotonicMs();
  while (isAwaited(process) && clock.monotonicMs() - fromMs < 60_000) await clock.advance(100);
  return clock.monotonicMs() - fromMs;
}

test("while the slot of a process that stops goes to another, its connector is down for nobody", async () => {
  const world = open();
  for (const name of ["a", "b", "c"]) world.start(name);
  const [holder, ...others] = await world.settled();
  for (const { channel } of others) channel.isUp = false;
  await world.stop(holder);
  for (let past = 0; past < 3 * HEARTBEAT_MS; past += 100) {
    await world.clock.advance(100);
    for (const each of others) expect(each === world.holder() || isAwaited(each)).toBe(true);
  }
  const next = world.holder()!;
  next.channel.isUp = true;
  next.share.lookUp();
  await world.clock.advance(2 * HEARTBEAT_MS);
  for (const each of others) expect(each.shares.isUpElsewhere("smsc")).toBe(each !== next);
});

test("while a fair share of its slots moves, a connector is down for nobody: for the process that leaves them, nor for the others", async () => {
  const world = open();
  const first = world.start("a");
  const left = Promise.withResolvers<void>();
  first.share.onChange(() => (first.share.held().size === 0 ? left.promise : Promise.resolve()));
  const all = [...(await world.settled())];
  // Which of them the slot goes to depends on how many there are.
  for (let count = 2; world.holder() === first && count < 10; count++) {
    all.push(world.start(`b${count}`));
    await world.clock.advance(3 * HEARTBEAT_MS);
  }
  expect(world.holder()).toBeUndefined();
  for (const each of all) expect(isAwaited(each)).toBe(true);
  left.resolve();
  for (let past = 0; past < 3 * HEARTBEAT_MS; past += 100) {
    await world.clock.advance(100);
    for (const each of all) expect(each === world.holder() || isAwaited(each)).toBe(true);
  }
  expect(world.holder()).toBeDefined();
});

test("what is being left while answers do not come is waited for 5 s", async () => {
  const world = open();
  const first = world.start("a");
  first.share.onChange(() => (first.share.held().size === 0 ? new Promise(() => {}) : Promise.resolve()));
  await world.settled();
  for (let count = 2; world.holder() === first && count < 10; count++) {
    world.start(`b${count}`);
    await world.clock.advance(HEARTBEAT_MS);
  }
  expect(isAwaited(first)).toBe(true);
  expect(await awaitedMs(world, first)).toBeLessThanOrEqual(MOVE_MS + HEARTBEAT_MS);
});

test("what nobody brings up is waited for 5 s", async () => {
  const world = open();
  for (const name of ["a", "b", "c"]) world.start(name);
  const [holder, ...others] = await world.settled();
  for (const { channel } of others) channel.isUp = false;
  await world.stop(holder);
  await world.clock.advance(2 * HEARTBEAT_MS);
  const bystander = others.find((each) => each !== world.holder())!;
  const ms = await awaitedMs(world, bystander);
  expect(ms).toBeGreaterThan(MOVE_MS - 3 * HEARTBEAT_MS);
  expect(ms).toBeLessThanOrEqual(MOVE_MS);
});

test("what goes down where it is does not move, and the others know within a heartbeat", async () => {
  const world = open();
  for (const name of ["a", "b", "c"]) world.start(name);
  const [holder, ...others] = await world.settled();
  holder.channel.isUp = false;
  holder.share.lookUp();
  await world.clock.advance(HEARTBEAT_MS);
  expect([holder, ...others].map(isAwaited)).toEqual([false, false, false]);
  holder.channel.isUp = true;
  holder.share.lookUp();
  await world.clock.advance(HEARTBEAT_MS);
  expect([holder, ...others].map(isAwaited)).toEqual([false, true, true]);
});

test("a process without a heartbeat has nothing up after 5 s, though its slot is still its own", async () => {
  const world = open();
  for (const name of ["a", "b", "c"]) world.start(name);
  const [holder, ...others] = await world.settled();
  holder.isCut = true;
  const ms = await awaitedMs(world, others[0]!);
  expect(ms).toBeGreaterThan(MOVE_MS - HEARTBEAT_MS);
  expect(ms).toBeLessThanOrEqual(MOVE_MS + HEARTBEAT_MS);
  expect(ms).toBeLessThan(DEAD_MS);
});

test("what a predecessor had is waited for until it is declared dead and taken over", async () => {
  const world = open();
  const first = world.start("a");
  await world.settled();
  first.isCut = true;
  const second = world.start("b", ["a"]);
  while (second.share.held().size === 0) {
    expect(isAwaited(second)).toBe(true);
    await world.clock.advance(100);
  }
});

test("a process that has just started waits for slots that are free, and not for one that is down elsewhere", async () => {
  const world = open();
  const first = world.start("a");
  first.channel.isUp = false;
  expect(isAwaited(first)).toBe(true);
  await world.settled();
  expect(world.holder()).toBe(first);
  const second = world.start("b");
  await world.clock.advance(0);
  expect(isAwaited(second)).toBe(false);
});

test("what is known of one connector says nothing of another, and is kept when it is watched again", () => {
  const slots = createPeerSlots({ clock: createHeldClock(), isHeld: () => false });
  const known = () => ["a", "b"].map((connector) => slots.isUp(connector));
  for (const connector of ["a", "b"]) slots.watch(connector, 1);
  slots.note([{ name: "a", slot: 0, process: "other", isUp: true }], new Set());
  expect(known()).toEqual([true, false]);
  slots.watch("a", 1);
  expect(known()).toEqual([true, false]);
});
