import { randomBytes } from "node:crypto";
import { createIds } from "../../src/core/uuid.ts";
import { heading, whole } from "../report.ts";
import { accept, claim, clock, drain, type Ground, openGround, QUEUE, settlementOf } from "./store-ground.ts";

export interface Bloat {
  readonly jobs: number;
  /** In the queue at one time, all the while. */
  readonly backlog: number;
  /**
   * `jobs`: rows by SQL, of messages that are not there: the store leases them, and deletes them in the same call.
   * `messages`: through accept, claim and settle.
   */
  readonly by: string;
  /** Jobs a second at the most; 0: as many as go through. What is left behind between two vacuums grows with it. */
  readonly pace: number;
}

const REPORTS = 10;
const PER_STEP = 1_000;
const CLAIMS = 2;

/** How large the tables that every message goes through become, after each tenth of the jobs. */
export async function bloat({ jobs, backlog, by, pace }: Bloat): Promise<void> {
  console.log(heading(`PostgreSQL: ${whole(jobs)} jobs through a queue of ${whole(backlog)}, as ${by}`));
  const ground = await openGround();
  const push = by === "messages" ? pushMessages : await pushJobs(ground);
  await push(ground, backlog);
  await sizesOf(ground, "before");
  const startedMs = performance.now();
  const sizes: number[] = [];
  for (let done = 0, report = 1; report <= REPORTS; report++) {
    for (; done < (jobs * report) / REPORTS; done += PER_STEP) {
      await Promise.all([push(ground, PER_STEP), pull(ground, PER_STEP, by)]);
      if (pace > 0) await Bun.sleep(startedMs + ((done + PER_STEP) / pace) * 1_000 - performance.now());
    }
    sizes.push(await sizesOf(ground, whole(done)));
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  console.log(`${whole(jobs / seconds)} jobs/s over ${whole(seconds)} s`);
  await drain(ground, PER_STEP);
  await sizesOf(ground, "after all are gone");
  // Before the first vacuums there is nothing yet that dies between two of them.
  const growth = (sizes.at(-1) ?? 0) / (sizes[0] ?? 1);
  console.log(`jobs with its indexes at the end: ${growth.toFixed(2)} × what it was at a tenth`);
}

type Push = (ground: Ground, count: number) => Promise<void>;

async function pushMessages(ground: Ground, count: number): Promise<void> {
  await accept(ground, count);
}

async function pushJobs(ground: Ground): Promise<Push> {
  const newId = createIds(clock, randomBytes);
  await accept(ground, 1);
  await drain(ground, 1);
  return async ({ driver }, count) => {
    const ids = Array.from({ length: count }, () => newId());
    await driver.query(INSERT, [QUEUE, ids, clock.now() + 86_400_000]);
  };
}

const INSERT = `INSERT INTO jobs (queue, flow, message_id, deadline)
  SELECT q.number, 2, t.id, $3::bigint FROM queues q, unnest($2::uuid[]) AS t (id) WHERE q.name = $1`;

async function pull(ground: Ground, count: number, by: string): Promise<void> {
  const share = Math.ceil(count / CLAIMS);
  const claims = Array.from({ length: CLAIMS }, async () => {
    const jobs = await claim(ground.store, share);
    if (jobs.length > 0) await ground.store.queue.settle(jobs.map(settlementOf));
  });
  await Promise.all(claims);
  if (by === "messages") await ground.store.feed.numberEvents(10 * count);
}

const TABLES = ["jobs", "new_events", "provider_ids"];

/** Octets of `jobs` and its indexes. */
async function sizesOf({ driver }: Ground, when: string): Promise<number> {
  await driver.query("SELECT pg_stat_clear_snapshot()");
  const rows = await driver.query<SizeRow>(SIZES, [TABLES]);
  for (const { name, heap, indexes, live, dead, vacuums } of rows)
    console.log(
      `${when}: ${name} ${mib(heap)}, indexes ${mib(indexes)}, ${whole(live)} rows, ${whole(dead)} dead, ${vacuums} vacuums`,
    );
  return rows
    .filter(({ name }) => name === "jobs")
    .reduce((sum, { heap, indexes }) => sum + heap + indexes, 0);
}

interface SizeRow {
  readonly name: string;
  /** Octets. */
  readonly heap: number;
  readonly indexes: number;
  readonly live: number;
  readonly dead: number;
  readonly vacuums: number;
}

const SIZES = `SELECT relname::text AS name, pg_relation_size(relid) AS heap, pg_indexes_size(relid) AS indexes,
    n_live_tup AS live, n_dead_tup AS dead, autovacuum_count AS vacuums
  FROM pg_stat_user_tables WHERE relname = ANY($1::text[]) ORDER BY relname`;

function mib(octets: number): string {
  return `${(octets / 2 ** 20).toFixed(1)} MiB`;
}
