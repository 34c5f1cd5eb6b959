import { expect, test } from "bun:test";
import { Client } from "pg";
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

test("who works on a database and who works on its copy see each other, and when the other has gone; another database is none", async () => {
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
