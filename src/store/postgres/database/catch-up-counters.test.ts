import { expect, test } from "bun:test";
import { withDriver } from "../postgres-world.contract.ts";
import { catchUpCounters } from "./catch-up-counters.ts";
import { type Driver, openDriver } from "./driver.ts";
import { waiting } from "./race.contract.ts";

const ROWS = 5_000;

async function rowsRead(session: Driver): Promise<number> {
  await session.query("SELECT pg_stat_force_next_flush()");
  const [row] = await session.query<{ read: number }>(READ);
  return row?.read ?? 0;
}

const READ = `SELECT sum(seq_tup_read + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes i WHERE i.relid = t.relid))::bigint AS read
  FROM pg_stat_user_tables t WHERE relname IN ('jobs', 'new_events')`;

test("a start does not search through what has gone from the queue, however much of it a long transaction keeps", () =>
  withDriver((holder, url) =>
    holder.hold(async (connection) => {
      const session = openDriver({ url, connections: 1 });
      await connection.exec("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM jobs");
      await session.query(
        `INSERT INTO jobs (queue, flow, message_id, deadline) SELECT 1, 1, gen_random_uuid(), 1 FROM generate_series(1, ${ROWS})`,
      );
      await session.query(
        `INSERT INTO new_events (subject_id, position, account) SELECT gen_random_uuid(), 1, 1 FROM generate_series(1, ${ROWS})`,
      );
      await session.query("DELETE FROM jobs");
      await session.query("DELETE FROM new_events");
      const before = await rowsRead(session);
      await catchUpCounters(session);
      expect((await rowsRead(session)) - before).toBeLessThan(ROWS / 100);
      await connection.exec("COMMIT");
      await session.close();
    }),
  ));

test("a counter that is behind goes on from the highest number, and one that is ahead stays", () =>
  withDriver(async (driver) => {
    await driver.query("INSERT INTO queues (number, name) OVERRIDING SYSTEM VALUE VALUES (7, 'a')");
    await driver.query(
      "INSERT INTO parked_receipts (connector_id, id_key, at, receipt) VALUES ('c', 'k', 0, '{}')",
    );
    await driver.query("DELETE FROM parked_receipts");
    await catchUpCounters(driver);
    const rows = await driver.query(`INSERT INTO queues (name) VALUES ('b') RETURNING number`);
    expect(rows).toEqual([{ number: 8 }]);
    const parked = await driver.query(
      "INSERT INTO parked_receipts (connector_id, id_key, at, receipt) VALUES ('c', 'k', 0, '{}') RETURNING id",
    );
    expect(parked).toEqual([{ id: 2 }]);
  }));

test("a counter that another start has caught up meanwhile, and that has gone on since, is not set back", () =>
  withDriver(async (driver, url) => {
    await driver.query("INSERT INTO queues (number, name) OVERRIDING SYSTEM VALUE VALUES (7, 'a')");
    const other = openDriver({ url, connections: 1 });
    await other.hold(async (connection) => {
      await connection.exec("BEGIN; LOCK TABLE queues IN SHARE MODE");
      const caughtUp = catchUpCounters(driver);
      await waiting(driver, 1);
      await connection.exec("SELECT setval(pg_get_serial_sequence('queues', 'number'), 20); COMMIT");
      await caughtUp;
    });
    await other.close();
    const rows = await driver.query("INSERT INTO queues (name) VALUES ('b') RETURNING number");
    expect(rows).toEqual([{ number: 21 }]);
  }));
