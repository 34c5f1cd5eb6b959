import { expect, test } from "bun:test";
import { Client } from "pg";
import { freshDatabase } from "../../../test/postgres-database.ts";
import { createSystemClock } from "../../cli/system-clock.ts";
import { createWorld, DAY, type World } from "../contract/world.contract.ts";
import { LOCKS } from "./database/lock-numbers.ts";
import { dump } from "./dump.ts";
import { type LoadSource, load } from "./load.ts";
import { openFresh, openOther } from "./postgres-world.contract.ts";

type Rows = readonly (readonly (string | null)[])[];

/** What is to be loaded, in memory: a database with a message, unless something else is put there. */
async function takeDump(
  fill = async (world: Omit<World, "inside">) => void (await world.sms()),
): Promise<Omit<LoadSource, "onTable">> {
  const { store, url } = await openFresh();
  await fill(await createWorld(store));
  const tables = new Map<string, { columns: readonly string[]; rows: Rows }>();
  let current = "";
  const made = await dump(url, {
    onKey: () => undefined,
    async table(name, columns) {
      current = name;
      tables.set(name, { columns, rows: [] });
    },
    async rows(values) {
      const { columns = [], rows = [] } = tables.get(current) ?? {};
      tables.set(current, { columns, rows: [...rows, ...values] });
    },
    tableDone: async () => undefined,
  });
  await store.close();
  return {
    dump: made,
    name: "a dump",
    columns: async (table) => tables.get(table)?.columns ?? [],
    async *read(table) {
      yield tables.get(table)?.rows ?? [];
    },
  };
}

const isMarked = async (client: Client) =>
  (await client.query("SELECT FROM meta WHERE name = 'moving_from'")).rowCount === 1;

test("a load says when the database holds a part of the dump, and when all of it", async () => {
  const source = await takeDump();
  const { url, drop } = await freshDatabase();
  const heard: string[] = [];
  const onTable = () => void heard.push("table");
  await load(url, createSystemClock(), { ...source, onTable, onStage: (stage) => heard.push(stage) });
  expect(heard.filter((each, index) => each !== heard[index - 1])).toEqual(["begun", "table", "complete"]);
  await drop();
});

test("where a database was loaded what was being sent is in line at once, and what is scheduled keeps its time", async () => {
  let now = 0;
  const source = await takeDump(async ({ clock, sms, claim }) => {
    now = clock.now;
    await sms();
    await claim();
    await sms({ dueAt: now + DAY });
  });
  const { url, drop } = await freshDatabase();
  await load(url, { ...createSystemClock(), now: () => now }, { ...source, onTable: () => undefined });
  const store = await openOther(url);
  expect(await store.queue.stage(now, 10)).toBe(1);
  expect(await store.queue.nextDueAt()).toBe(now + DAY);
  await store.close();
  await drop();
});

test("a service is not overwritten, not even one whose accounts have all been deleted", async () => {
  const source = { ...(await takeDump()), onTable: () => undefined };
  const { url, drop } = await freshDatabase();
  await (await openOther(url)).close();
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("INSERT INTO meta (name, value) VALUES ('admin_token_digest', 'd')");
  await client.end();
  await expect(load(url, createSystemClock(), source)).rejects.toThrow("there is a service in this database");
  await drop();
});

test("a load that can no longer keep others out fails, and nothing starts on what is there", async () => {
  const source = await takeDump();
  const { url, drop } = await freshDatabase();
  const client = new Client({ connectionString: url });
  await client.connect();
  const kept = `SELECT pg_terminate_backend(pid, 5000) FROM pg_locks
    WHERE locktype = 'advisory' AND classid = ${LOCKS.filling}
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  const last = Object.keys(source.dump.rows).length;
  for (const cutAfter of [1, last]) {
    let tables = 0;
    let ended: Promise<unknown> | undefined;
    const loaded = load(url, createSystemClock(), {
      ...source,
      async *read(table) {
        tables++;
        if (tables === cutAfter) ended = client.query(kept);
        await ended;
        yield* source.read(table);
      },
      onTable: () => undefined,
    });
    expect(await loaded.catch(String)).toContain("kept other restores and moves out");
    expect([tables, await isMarked(client)]).toEqual([cutAfter, true]);
  }
  await client.end();
  await drop();
});
