/** Numbering while a transaction that stays open on the server keeps vacuum from removing the events that are numbered. */
import { expect, test } from "bun:test";
import { createWorld, SECOND, type World } from "../../contract/world.contract.ts";
import { type Connection, openDriver } from "../database/driver.ts";
import {
  behindOpenTransaction,
  LOOK_MS,
  type SlowClock,
  type SlowProcess,
} from "../open-transaction.contract.ts";

const DONE = 10_000;
const AT_ONCE = 500;

/** What lies before the places that were reached is found when so much time has passed since the last look from the start. */
const MOST_MS = 4 * LOOK_MS;

/** What was reached so long ago is a place to begin at. */
const LAG_MS = 60 * SECOND;

interface Ground {
  readonly world: Omit<World, "inside">;
  readonly clock: SlowClock;
}

/** With a process which has numbered `DONE` events, and to which the looks for them seemed slow; no time passes from then on. */
async function reachBehind(
  { store, clock, driver }: SlowProcess,
  begin: () => Promise<unknown> = async () => {},
): Promise<Ground> {
  const world = await createWorld(store);
  const [id = ""] = await world.sms();
  await begin();
  await driver.query(INSERT, [id, world.account.id, DONE]);
  for (let done = 0; done < DONE; done += AT_ONCE)
    expect(await store.feed.numberEvents(AT_ONCE)).toBe(AT_ONCE);
  for (let times = 0; times < 2; times++) {
    clock.passedMs += LAG_MS;
    await driver.query(INSERT, [id, world.account.id, 1]);
    expect(await store.feed.numberEvents(AT_ONCE)).toBe(1);
  }
  clock.passedMs += MOST_MS;
  expect(await store.feed.numberEvents(AT_ONCE)).toBe(0);
  clock.lookMs = 0;
  return { world, clock };
}

/** Of no message, but of its day. */
const INSERT = `INSERT INTO new_events (subject_id, position, account)
  SELECT (left($1::text, 18) || substr(gen_random_uuid()::text, 19))::uuid, 1, number
  FROM accounts, generate_series(1, $3::int) WHERE id = $2`;

/** So often what is read for each shows. */
const TIMES = 100;
const FEW = (TIMES * DONE) / 10;

test("looks for events to number do not each pass over all that are numbered, while a transaction keeps these", async () => {
  const less = await behindOpenTransaction(
    "new_events",
    async (process) => void (await reachBehind(process)),
  );
  const more = await behindOpenTransaction("new_events", async (process) => {
    const { world } = await reachBehind(process);
    for (let looked = 0; looked < TIMES; looked++) expect(await world.store.feed.numberEvents(10)).toBe(0);
    await world.settle(await world.claimOne());
    expect(await world.store.feed.numberEvents(10)).toBe(1);
  });
  expect(more - less).toBeLessThan(FEW);
}, 120_000);

/** Runs it with a connection on which an event is to be written, and committed by `COMMIT`. */
function withLateWriter(run: (process: SlowProcess, late: Connection) => Promise<void>): Promise<number> {
  return behindOpenTransaction("new_events", async (process) => {
    const other = openDriver({ url: process.url, connections: 1 });
    await other.hold((connection) => run(process, connection));
    await other.close();
  });
}

const BEGIN =
  "BEGIN; INSERT INTO new_events (subject_id, position, account) SELECT id, 9, account FROM messages LIMIT 1";

test(
  "an event that is committed after minutes is numbered once four times the time of a look is over",
  () =>
    withLateWriter(async (process, late) => {
      const { world, clock } = await reachBehind(process, () => late.exec(BEGIN));
      await late.exec("COMMIT");
      clock.passedMs += MOST_MS - 1;
      expect(await world.store.feed.numberEvents(10)).toBe(0);
      clock.passedMs += 1;
      expect(await world.store.feed.numberEvents(10)).toBe(1);
    }),
  120_000,
);

test(
  "an event that is committed within a minute is numbered at once, so that those of its message keep their order",
  () =>
    withLateWriter(async (process, late) => {
      const { world, clock } = await reachBehind(process);
      await late.exec(BEGIN);
      clock.passedMs += LAG_MS;
      clock.lookMs = LOOK_MS;
      const number = () => world.store.feed.numberEvents(10);
      for (let later = 0; later < 3; later++) {
        await world.sms();
        await world.settle(await world.claimOne());
        expect(await number()).toBe(1);
        clock.lookMs = 0;
      }
      await late.exec("COMMIT");
      expect(await number()).toBe(1);
    }),
  120_000,
);

/** As after many numberings: the row is behind all that it was. There these lie closer together. */
const VERSIONS = [
  `INSERT INTO event_numbers SELECT 0 FROM generate_series(1, ${DONE})`,
  "WITH old AS (DELETE FROM event_numbers RETURNING last) INSERT INTO event_numbers SELECT max(last) FROM old",
];

/** How many pages of the table are read by so many numberings, each followed by a look at the last number. */
function pagesReadBy(numberings: number): Promise<number> {
  const run = async ({ store, url }: SlowProcess) => {
    const world = await createWorld(store);
    // What this reads is counted for certain, since it is gone when the count is taken.
    const other = openDriver({ url, connections: 1 });
    for (const sql of VERSIONS) await other.query(sql);
    await other.close();
    await world.sms({ to: Array.from({ length: numberings + 1 }, (_, index) => `+91${index}`) });
    for (const job of await world.claim(numberings + 1)) await world.settle(job);
    // A process goes ahead of all numbers once.
    expect(await store.feed.numberEvents(1)).toBe(1);
    const first = await store.feed.lastNumber();
    for (let more = 1; more <= numberings; more++) {
      expect(await store.feed.numberEvents(1)).toBe(1);
      expect(await store.feed.lastNumber()).toBe(first + more);
    }
  };
  return behindOpenTransaction("event_numbers", run, "pages");
}

test("the last number is read, and counted on, without reading all that it was, while a transaction keeps these", async () => {
  const less = await pagesReadBy(0);
  expect((await pagesReadBy(TIMES)) - less).toBeLessThan(TIMES * 20);
}, 120_000);
