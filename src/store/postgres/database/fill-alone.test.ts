import { expect, test } from "bun:test";
import { Client } from "pg";
import { until } from "../../../../test/until.ts";
import { withDriver } from "../postgres-world.contract.ts";
import { openDriver } from "./driver.ts";
import { fillAlone } from "./fill-alone.ts";
import { LOCKS } from "./lock-numbers.ts";

const OTHERS = "another restore or move into this database is under way";

async function withClient(url: string, run: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await run(client);
  } finally {
    await client.end();
  }
}

test("one process at a time fills a schema, another is waited for a moment, and another schema is free", () =>
  withDriver(async (driver, url) => {
    const begun = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const first = fillAlone(driver, () => {
      begun.resolve();
      return over.promise;
    });
    await begun.promise;
    const refused = await fillAlone(driver, async () => "done").catch(String);
    expect(refused).toContain(OTHERS);

    await withClient(url, (client) => client.query("CREATE SCHEMA other").then(() => undefined));
    const other = openDriver({ url: `${url}?options=${encodeURIComponent("-c search_path=other")}` });
    expect(await fillAlone(other, async () => "done")).toBe("done");
    await other.close();

    const second = fillAlone(driver, async () => "done");
    await withClient(url, async (client) => {
      const waits = `SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND query = 'SELECT pg_sleep(0.2)'`;
      await until(async () => (await client.query(waits)).rowCount);
    });
    over.resolve();
    await first;
    expect(await second).toBe("done");
  }));

/** Longer than a statement takes on a busy machine. */
const LIMIT_MS = 2_000;

test("no limit of the server ends it, and where its connection is lost all the same it fails", () =>
  withDriver(async (_, url) => {
    await withClient(url, async (client) => {
      const { rowCount } = await client.query("SELECT FROM pg_settings WHERE name = 'transaction_timeout'");
      // PostgreSQL 15 and 16 have none.
      if (rowCount)
        await client.query(
          `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET transaction_timeout = ${LIMIT_MS}`,
        );
      const driver = openDriver({ url, statementMs: LIMIT_MS });
      const held = `SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory'
        AND classid = ${LOCKS.filling}
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      let ended: number | null = 0;
      const filled = fillAlone(driver, async (checkAlone) => {
        await Bun.sleep(LIMIT_MS * 1.5);
        await checkAlone();
        ended = (await client.query(held)).rowCount;
        return checkAlone();
      });
      expect(await filled.catch(String)).toContain(
        "kept other restores and moves out of this database was lost",
      );
      expect(ended).toBe(1);
      await driver.close();
    });
  }));
