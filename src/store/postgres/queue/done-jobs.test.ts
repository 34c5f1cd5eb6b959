/** Claims while a transaction that stays open on the server keeps vacuum from removing the jobs that are done. */
import { expect, test } from "bun:test";
import { createWorld, HOUR, QUEUE, SECOND, type World } from "../../contract/world.contract.ts";
import {
  behindOpenTransaction,
  LOOK_MS,
  type SlowClock,
  type SlowProcess,
} from "../open-transaction.contract.ts";

const DONE = 10_000;
const PER_CLAIM = 500;

/** What lies before the places that were reached is found when so much time has passed since the last look from the start. */
const MOST_MS = 4 * LOOK_MS;

interface Ground {
  /** Of a process which has done `DONE` jobs, and to which the looks for them seemed slow; no time passes from then on. */
  readonly world: Omit<World, "inside">;
  readonly clock: SlowClock;
  claim(limit: number): Promise<readonly string[]>;
}

/** Returns how many rows of the indexes of jobs the process has read. */
function behindDoneJobs(run: (ground: Ground) => Promise<void>): Promise<number> {
  return behindOpenTransaction("jobs", async (process) => run(await reachBehind(process)));
}

async function reachBehind({ store, clock, driver }: SlowProcess): Promise<Ground> {
  const world = await createWorld(store);
  const claim = async (limit: number) => {
    const request = { queue: QUEUE, limit, now: world.clock.now, leaseMs: 60 * SECOND };
    return (await store.queue.claim(request)).map(({ messageId }) => messageId);
  };
  await world.sms();
  await driver.query(INSERT, [DONE]);
  for (let done = 0; done < DONE; done += PER_CLAIM) await claim(PER_CLAIM);
  clock.lookMs = 0;
  expect(await claim(PER_CLAIM)).toHaveLength(1);
  return { world, clock, claim };
}

/** Their messages are not there, so that a claim deletes them. They are of the flow of the message that is. */
const INSERT = `INSERT INTO jobs (queue, flow, message_id, deadline)
  SELECT queue, flow, ('f' || right(gen_random_uuid()::text, 35))::uuid, deadline - n FROM jobs, generate_series(1, $1::int) AS n`;

/** So often what is read for each shows. */
const TIMES = 100;
const FEW = (TIMES * DONE) / 10;

test("claims do not each pass over all jobs that are done, while a transaction keeps these", async () => {
  const less = await behindDoneJobs(async () => {});
  const more = await behindDoneJobs(async ({ world, claim }) => {
    await world.sms({ flow: "single", to: Array.from({ length: TIMES }, (_, at) => `+91${at}`) });
    for (let claimed = 0; claimed < TIMES; claimed++) expect(await claim(1)).toHaveLength(1);
  });
  expect(more - less).toBeLessThan(FEW);
}, 120_000);

test(
  "a job that is ready before the jobs that are done is claimed once four times the time of a look is over, of another flow at once",
  () =>
    behindDoneJobs(async ({ world, clock, claim }) => {
      const { sms } = world;
      const [early = ""] = await sms({ expiresAt: world.clock.now + HOUR });
      const [next = ""] = await sms();
      const [other = ""] = await sms({ flow: "batch", expiresAt: world.clock.now + HOUR });
      expect((await claim(2)).toSorted()).toEqual([next, other].toSorted());
      clock.passedMs += MOST_MS - 1;
      expect(await claim(1)).toEqual([]);
      clock.passedMs += 1;
      expect(await claim(1)).toEqual([early]);
    }),
  120_000,
);

test(
  "a job that is ready before the jobs that are done is claimed at the turn of its flow, also if another flow has its turn whenever a look from the start is due",
  () =>
    behindDoneJobs(async ({ world, clock, claim }) => {
      const { sms } = world;
      const to = ["+911", "+912", "+913"];
      await sms({ flow: "batch", to });
      await sms({ account: await world.addAccount(), to });
      const [early = ""] = await sms({ expiresAt: world.clock.now + HOUR });
      expect(await claim(1)).toHaveLength(1);
      clock.passedMs += MOST_MS;
      clock.lookMs = LOOK_MS;
      expect(await claim(1)).not.toEqual([early]);
      clock.lookMs = 0;
      expect(await claim(1)).toEqual([early]);
    }),
  120_000,
);

test(
  "a job that is ready before the jobs that are done is claimed after 40 s, also if the process was stopped for an hour during a look",
  () =>
    behindDoneJobs(async ({ world, clock, claim }) => {
      clock.passedMs += MOST_MS;
      clock.lookMs = HOUR;
      expect(await claim(1)).toEqual([]);
      clock.lookMs = 0;
      const early = await world.sms({ expiresAt: world.clock.now + HOUR });
      clock.passedMs += 40 * SECOND - 1;
      expect(await claim(1)).toEqual([]);
      clock.passedMs += 1;
      expect(await claim(1)).toEqual(early);
    }),
  120_000,
);

test("looks for what is due do not each pass over all leases that are over, while a transaction keeps these", async () => {
  const less = await behindDoneJobs(async () => {});
  const more = await behindDoneJobs(
    async ({
      world: {
        store,
        clock: { now },
      },
      clock,
    }) => {
      clock.lookMs = LOOK_MS;
      await store.queue.nextDueAt(now + HOUR);
      clock.lookMs = 0;
      for (let looked = 0; looked < TIMES; looked++) {
        await store.queue.nextDueAt(now + HOUR);
        await store.queue.stage(now + HOUR, 10);
      }
    },
  );
  expect(more - less).toBeLessThan(FEW);
}, 120_000);

test(
  "a job that was due before the leases that are over is staged once four times the time of a look is over, one that is due now at once",
  () =>
    behindDoneJobs(async ({ world, clock }) => {
      const { store, sms } = world;
      const now = world.clock.now + 2 * HOUR;
      const look = () => store.queue.nextDueAt(now);
      const stage = () => store.queue.stage(now, 10);
      expect(await look()).toBe(world.clock.now + 60 * SECOND);
      expect(await stage()).toBe(1);
      clock.lookMs = LOOK_MS;
      expect(await look()).toBeUndefined();
      clock.lookMs = 0;
      await sms({ dueAt: world.clock.now + HOUR });
      await sms({ dueAt: now });
      expect([await look(), await stage()]).toEqual([now, 1]);
      clock.passedMs += MOST_MS - 1;
      expect([await look(), await stage()]).toEqual([undefined, 0]);
      clock.passedMs += 1;
      expect([await look(), await stage()]).toEqual([world.clock.now + HOUR, 1]);
    }),
  120_000,
);

test("looks for what is overdue do not each pass over all jobs that are done, while a transaction keeps these", async () => {
  const less = await behindDoneJobs(async () => {});
  const more = await behindDoneJobs(async ({ world, clock }) => {
    clock.lookMs = LOOK_MS;
    const expire = () => world.store.queue.expire(world.clock.now, 10);
    expect(await expire()).toBe(0);
    clock.lookMs = 0;
    for (let looked = 0; looked < TIMES; looked++) expect(await expire()).toBe(0);
  });
  expect(more - less).toBeLessThan(FEW);
}, 120_000);

test(
  "what is overdue behind the jobs that are done expires once four times the time of a look is over, and the rest of a great many at once",
  () =>
    behindDoneJobs(async ({ world, clock }) => {
      const { store, sms } = world;
      const later = world.clock.now + HOUR;
      const expire = () => store.queue.expire(later, 2);
      clock.lookMs = LOOK_MS;
      expect(await expire()).toBe(0);
      clock.lookMs = 0;
      await sms({ expiresAt: later, to: ["+911", "+912", "+913"] });
      clock.passedMs += MOST_MS - 1;
      expect(await expire()).toBe(0);
      clock.passedMs += 1;
      clock.lookMs = LOOK_MS;
      expect([await expire(), await expire(), await expire()]).toEqual([2, 1, 0]);
      await sms({ expiresAt: later });
      expect(await expire()).toBe(0);
    }),
  120_000,
);
