import { expect, test } from "bun:test";
import { Client, type PoolClient } from "pg";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { copyOf, freshDatabase } from "../../../../test/postgres-database.ts";
import { until } from "../../../../test/until.ts";
import { createCopyWatch } from "./copy-watch.ts";
import { openMessenger } from "./messenger.ts";

/** Longer than the pause between two looks. */
const NEXT_LOOK_MS = 31_000;

async function addAccount(url: string, id: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("INSERT INTO accounts (id, name, mode, created_at) VALUES ($1, 'A', 'live', 0)", [id]);
  await client.end();
}

function watch(url: string) {
  const clock = createHeldClock();
  const told: (readonly string[])[] = [];
  const copies = createCopyWatch((names) => told.push(names));
  const messenger = openMessenger({ url, clock, hear: () => {}, copies });
  /** Looks again until it has told so often. */
  const tells = (times: number) =>
    until(
      () => clock.advance(NEXT_LOOK_MS),
      () => told.length === times,
    );
  return { told, tells, close: messenger.close };
}

const nameOf = ({ url }: { url: string }) => new URL(url).pathname.slice(1);

test("processes on a database and on its copy notice each other, and when the other has gone; any other database is no copy", async () => {
  const [original, stranger] = await Promise.all([freshDatabase(), freshDatabase()]);
  await addAccount(original.url, "019bc186-de00-7000-8000-000000000001");
  const copy = await copyOf(original);
  const unrelated = watch(stranger.url);
  // It has its first account only later, as at a first start.
  await addAccount(stranger.url, "019bc186-de00-7000-8000-000000000002");
  const first = watch(original.url);
  await first.tells(0);
  const second = watch(copy.url);
  await second.tells(1);
  await first.tells(1);
  await unrelated.tells(0);
  expect([first.told, second.told]).toEqual([[[nameOf(copy)]], [[nameOf(original)]]]);
  await second.close();
  await first.tells(2);
  expect(first.told[1]).toEqual([]);
  expect(unrelated.told).toEqual([]);
  await Promise.all([first.close(), unrelated.close()]);
  await Promise.all([original, stranger, copy].map((each) => each.drop()));
});

/** Gives each statement to another session, as a pooler with `pool_mode = transaction` may. */
async function poolOf(url: string) {
  const sessions = [new Client({ connectionString: url }), new Client({ connectionString: url })];
  await Promise.all(sessions.map((each) => each.connect()));
  let turn = 0;
  const query = (sql: string) => sessions[turn++ % sessions.length]?.query(sql);
  return {
    session: { query } as unknown as PoolClient,
    close: () => Promise.all(sessions.map((each) => each.end())),
  };
}

test("behind a pooler, too, where the statements of a look run in different sessions", async () => {
  const original = await freshDatabase();
  await addAccount(original.url, "019bc186-de00-7000-8000-000000000001");
  const copy = await copyOf(original);
  const told: (readonly string[])[] = [];
  const ours = createCopyWatch((names) => told.push(names));
  const theirs = createCopyWatch(() => {});
  const [ourPool, theirPool] = await Promise.all([poolOf(original.url), poolOf(copy.url)]);
  for (let look = 0; look < 3; look++) {
    await theirs.look(theirPool.session);
    await ours.look(ourPool.session);
  }
  expect(told).toEqual([[nameOf(copy)]]);
  await theirPool.close();
  await until(
    () => ours.look(ourPool.session),
    () => told.length === 2,
  );
  expect(told[1]).toEqual([]);
  await ourPool.close();
  await Promise.all([original.drop(), copy.drop()]);
});
