import { expect, test } from "bun:test";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { sleep } from "../core/clock.ts";
import { NOTHING_IN_FLIGHT } from "../core/queue/in-flight-jobs.ts";
import { DAY_MS, HOUR_MS, RETENTION_MS } from "../core/time/durations.ts";
import type { Chore } from "../core/work/chores.ts";
import { openInMemory } from "../store/sqlite/sqlite-world.contract.ts";
import { RowPutOff } from "../store/store.ts";
import { createUpkeep, stageChore, storeChores } from "./upkeep.ts";

function open(...chores: readonly Chore[]) {
  const clock = createHeldClock();
  const warnings: unknown[] = [];
  const warn = ({ chore, err }: Record<string, unknown>) => warnings.push([chore, String(err)]);
  return { clock, warnings, upkeep: createUpkeep({ clock, log: { warn }, chores }) };
}

test("a chore that fails is told of and tried again in its turn, and holds up no other", async () => {
  const ran = { broken: 0, sound: 0 };
  const { clock, upkeep, warnings } = open(
    {
      name: "broken",
      everyMs: 1_000,
      async run() {
        ran.broken++;
        throw new Error("disk full");
      },
    },
    { name: "sound", everyMs: 1_000, run: async () => 0 * ran.sound++ },
  );
  upkeep.start();
  await clock.advance(0);
  await clock.advance(2_500);
  expect(ran).toEqual({ broken: 3, sound: 3 });
  expect(warnings).toEqual(Array.from({ length: 3 }, () => ["broken", "Error: disk full"]));
  await upkeep.stop();
});

test("a chore that has put a row off goes on at once, but not without end, since others wait behind that row", async () => {
  let runs = 0;
  const run = async () => {
    runs++;
    throw new RowPutOff("message m, put off");
  };
  const { clock, upkeep, warnings } = open({ name: "work", everyMs: 1_000, run });
  upkeep.start();
  await clock.advance(0);
  await clock.advance(999);
  expect([runs, warnings.length]).toEqual([20, 20]);
  await clock.advance(1);
  expect(runs).toBeGreaterThan(20);
  await upkeep.stop();
});

test("a chore that found work goes on at once until there is none left, and by the time that it is then", async () => {
  const times: number[] = [];
  let left = 3;
  const run = async (now: number) => {
    times.push(now);
    return left > 0 ? left-- : 0;
  };
  const { clock, upkeep } = open({ name: "work", everyMs: 1_000, run });
  const startedAt = clock.now();
  upkeep.start();
  await clock.advance(0);
  await clock.advance(1_000);
  expect(times.map((at) => at - startedAt)).toEqual([0, 0, 0, 0, 1_000]);
  await upkeep.stop();
});

test("what nobody waits for takes half of the time at most, however much there is of it", async () => {
  const pieceMs = 30;
  const stop = new AbortController();
  const ran = { patient: 0, other: 0 };
  const piece = async (name: keyof typeof ran) => {
    ran[name]++;
    await sleep(clock, pieceMs, stop.signal);
    return 1;
  };
  const { clock, upkeep } = open(
    { name: "patient", everyMs: 60_000, isPatient: true, run: () => piece("patient") },
    { name: "other", everyMs: 60_000, run: () => piece("other") },
  );
  upkeep.start();
  await clock.advance(pieceMs * 20 - 1);
  expect(ran).toEqual({ patient: 10, other: 20 });
  stop.abort();
  await upkeep.stop();
});

test("what nobody waits for goes on within half a minute where the process stood still for an hour", async () => {
  let runs = 0;
  const run = async () => {
    // It is under way while the process stands still.
    if (++runs === 1) await sleep(clock, HOUR_MS, new AbortController().signal);
    return 0;
  };
  const { clock, upkeep } = open({ name: "patient", everyMs: 1_000, isPatient: true, run });
  upkeep.start();
  await clock.advance(HOUR_MS);
  await clock.advance(30_000);
  expect(runs).toBe(2);
  await upkeep.stop();
});

test("a chore that hangs is named once it is late, and a stop waits for it and begins nothing more", async () => {
  const done = Promise.withResolvers<number>();
  let runs = 0;
  const run = () => {
    runs++;
    return done.promise;
  };
  const { clock, upkeep } = open(
    { name: "hangs", everyMs: 1_000, run },
    { name: "turns", everyMs: 1_000, run: async () => 0 },
  );
  expect(upkeep.stalled(0)).toEqual([]);
  upkeep.start();
  await clock.advance(0);
  await clock.advance(6_000);
  expect(upkeep.stalled(5_000)).toEqual([]);
  await clock.advance(1);
  expect(upkeep.stalled(5_000)).toEqual(["hangs"]);
  let isStopped = false;
  const stopping = upkeep.stop().then(() => {
    isStopped = true;
  });
  await clock.advance(10_000);
  expect(isStopped).toBe(false);
  done.resolve(1);
  await stopping;
  expect(runs).toBe(1);
});

test("looking for jobs of which none is due costs no transaction", async () => {
  const swept: number[] = [];
  let dueAt: number | undefined;
  const queue = {
    nextDueAt: async () => dueAt,
    stage: async (now: number) => swept.push(now),
  };
  const { run } = stageChore(queue, () => NOTHING_IN_FLIGHT);
  expect(await run(1_000)).toBe(0);
  dueAt = 1_001;
  expect(await run(1_000)).toBe(0);
  expect(await run(1_001)).toBe(1);
  expect(swept).toEqual([1_001]);
});

test("nothing is deleted that is not past its retention by the database's clock as well", async () => {
  const now = Date.UTC(2026, 0, 15);
  const { store } = await openInMemory();
  const seen: number[] = [];
  const retention: typeof store.retention = {
    ...store.retention,
    pruneMessages: async ({ before }) => seen.push(before) * 0,
  };
  const pruneBy = async (databaseTime: number | undefined) => {
    const chores = storeChores({ ...store, retention, ping: async () => databaseTime });
    await chores.find(({ name }) => name === "prune messages")?.run(now);
  };
  await pruneBy(now - 60 * DAY_MS);
  await pruneBy(now + 60 * DAY_MS);
  // SQLite has no clock of its own.
  await pruneBy(undefined);
  expect(seen.map((before) => now - RETENTION_MS - before)).toEqual([60 * DAY_MS, 0, 0]);
  await store.close();
});
