import { expect, test } from "bun:test";
import type { ClaimedJob } from "../../../core/queue/claimed-job.ts";
import { createWorld, QUEUE, sent, type World } from "../../contract/world.contract.ts";
import type { Store } from "../../store.ts";
import { type Driver, openDriver } from "../database/driver.ts";
import { scansOf } from "../database/table-scans.contract.ts";
import { openFresh } from "../postgres-world.contract.ts";

type Ground = Omit<World, "inside">;

const JOBS = 2_000;
const PER_CLAIM = 100;
const TO = Array.from({ length: JOBS }, (_, index) => `+91${index}`);

/**
 * Rows of its indexes that a claim, a settlement, and the numbering of an event may read for each. They read 7, and up to 15
 * where others hold a snapshot for long; claims that read all that was sent before read 20 more.
 */
const MOST = 20;

function claimNow(store: Store, { clock }: Ground, limit: number): Promise<readonly ClaimedJob[]> {
  return store.queue.claim({ queue: QUEUE, limit, now: clock.now, leaseMs: 60_000 });
}

function settlementOf({ clock }: Ground, { jobId, claim, messageId }: ClaimedJob) {
  return {
    jobId,
    claim,
    messageId,
    at: clock.now,
    countsAsAttempt: true,
    keepsContent: false,
    outcomes: [sent(`p-${messageId}`)],
    next: { kind: "done" } as const,
  };
}

/** Sends so many, and numbers as many events. */
async function send(store: Store, world: Ground, count: number): Promise<void> {
  for (let done = 0; done < count; ) {
    const jobs = await claimNow(store, world, Math.min(PER_CLAIM, count - done));
    expect(jobs.length).toBeGreaterThan(0);
    await store.queue.settle(jobs.map((job) => settlementOf(world, job)));
    done += jobs.length;
    expect(await store.feed.numberEvents(jobs.length)).toBe(jobs.length);
  }
}

async function rowsRead(driver: Driver, table: string): Promise<number> {
  const [row] = await driver.query<{ read: number }>(
    "SELECT sum(idx_tup_read)::bigint AS read FROM pg_stat_user_indexes WHERE relname = $1",
    [table],
  );
  return row?.read ?? 0;
}

/** A plan is as it is, but a snapshot, such as one of autovacuum, may be held for long on a busy machine: hardly three times. */
const TRIES = 3;

/** @param measure the rows that were read of each table */
async function expectFew(measure: () => Promise<readonly number[]>): Promise<void> {
  let read: readonly number[] = [];
  for (let tried = 0; tried < TRIES; tried++) {
    read = await measure();
    if (Math.max(...read) < MOST * JOBS) return;
  }
  throw new Error(`${read.join(" and ")} rows were read for ${JOBS} jobs`);
}

async function bothRead(driver: Driver): Promise<readonly number[]> {
  return [await rowsRead(driver, "jobs"), await rowsRead(driver, "new_events")];
}

for (const left of [0, 1]) {
  for (const look of ["ANALYZE", "VACUUM (ANALYZE)"]) {
    test(
      `two thousand jobs cost no more each where ${left} were left at the last ${look}`,
      () =>
        expectFew(async () => {
          const { store, url } = await openFresh();
          const world = await createWorld(store);
          await world.sms({ to: TO });
          await send(store, world, JOBS - left);
          const driver = openDriver({ url, connections: 1 });
          await driver.hold((connection) => connection.exec(`${look} jobs, new_events`));
          await world.sms({ to: TO });
          await scansOf(driver, url, (other) => send(other, world, JOBS));
          const read = await bothRead(driver);
          await driver.close();
          await store.close();
          return read;
        }),
      120_000,
    );
  }
}

test(
  "two thousand jobs cost no more each where none were there when the statements were planned",
  () =>
    expectFew(async () => {
      const { store, url } = await openFresh();
      const driver = openDriver({ url, connections: 1 });
      await scansOf(driver, url, async (other) => {
        // Of the store whose connections end with the run: those of another would be waited for until they are idle too long.
        const world = await createWorld(other);
        await world.sms();
        await send(other, world, 1);
        await world.sms({ to: TO });
        await send(other, world, JOBS);
      });
      const read = await bothRead(driver);
      await driver.close();
      await store.close();
      return read;
    }),
  120_000,
);
