/** A process at work while a transaction that stays open on the server keeps vacuum from removing the rows that are done. */
import { until } from "../../../test/until.ts";
import type { Clock } from "../../core/clock.ts";
import type { Store } from "../store.ts";
import { type Driver, openDriver } from "./database/driver.ts";
import { openFresh, openOther } from "./postgres-world.contract.ts";

/** How long a look for rows seems to take. */
export const LOOK_MS = 300;

/** On whose clock each look at it takes so long. */
export interface SlowClock extends Clock {
  lookMs: number;
  passedMs: number;
}

export interface SlowProcess {
  readonly url: string;
  readonly store: Store;
  readonly clock: SlowClock;
  /** Of another process. */
  readonly driver: Driver;
}

/** Returns how many rows of the indexes of the table the process has read, or how many of its pages. */
export async function behindOpenTransaction(
  table: string,
  run: (process: SlowProcess) => Promise<void>,
  what: keyof typeof READ = "rows",
): Promise<number> {
  const { store: other, url } = await openFresh();
  const driver = openDriver({ url, connections: 2 });
  const read = await driver.hold(async (holder) => {
    await holder.exec("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM jobs");
    const [start] = await driver.query<{ now: string }>("SELECT now()::text AS now");
    const before = await countRead(driver, READ[what], table);
    const clock = createSlowClock();
    const store = await openOther(url, { clock });
    await run({ url, store, clock, driver });
    await store.close();
    // What a connection has read is counted when it is gone.
    await until(
      () => driver.query(LATER, [start?.now ?? ""]),
      ({ length }) => length === 0,
    );
    return (await countRead(driver, READ[what], table)) - before;
  });
  await driver.close();
  await other.close();
  return read;
}

const LATER = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
  AND backend_start > $1::text::timestamptz`;

const READ = {
  rows: "SELECT sum(idx_tup_read)::bigint AS read FROM pg_stat_user_indexes WHERE relname = $1",
  pages: "SELECT heap_blks_hit + heap_blks_read AS read FROM pg_statio_user_tables WHERE relname = $1",
};

async function countRead(driver: Driver, sql: string, table: string): Promise<number> {
  const [row] = await driver.query<{ read: number }>(sql, [table]);
  return row?.read ?? 0;
}

export function createSlowClock(): SlowClock {
  const clock = {
    lookMs: LOOK_MS,
    passedMs: 0,
    now: Date.now,
    monotonicMs() {
      clock.passedMs += clock.lookMs;
      return clock.passedMs;
    },
    after(delayMs: number, run: () => void) {
      const timer = setTimeout(() => {
        // What has waited for its time may look at the clock during a look for rows, which is not to seem longer by that.
        const { passedMs } = clock;
        run();
        clock.passedMs = passedMs;
      }, delayMs);
      return () => clearTimeout(timer);
    },
  };
  return clock;
}
