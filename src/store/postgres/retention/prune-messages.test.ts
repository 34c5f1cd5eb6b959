import { expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { createSystemClock } from "../../../cli/system-clock.ts";
import { createWorld, DAY, HOUR, QUEUE, SMS, sent, type World } from "../../contract/world.contract.ts";
import type { Retention } from "../../store.ts";
import { type Driver, openDriver } from "../database/driver.ts";
import { openClosable } from "../database/transactions.ts";
import { openFresh } from "../postgres-world.contract.ts";
import { createDays, daysWith, tableOf } from "./days.ts";
import { createPruneMessages } from "./prune-messages.ts";

interface Ground extends Omit<World, "inside"> {
  readonly driver: Driver;
  readonly inside: World["inside"];
  /** Until there is nothing more to do. */
  prune(by: Retention["pruneMessages"], before: number, atLatest?: number): Promise<number>;
}

async function onGround(run: (ground: Ground) => Promise<void>): Promise<void> {
  const { store, url, inside } = await openFresh();
  const driver = openDriver({ url, connections: 2 });
  try {
    const prune: Ground["prune"] = async (by, before, atLatest = 0) => {
      let sum = 0;
      for (let moved = 1; moved > 0; sum += moved) moved = await by({ before, atLatest, limit: 5 });
      return sum;
    };
    await run({ ...(await createWorld(store)), driver, inside, prune });
  } finally {
    await driver.close();
    await store.close();
  }
}

/** Sent and delivered, and their webhooks too. */
async function deliver(ground: Ground, count: number): Promise<readonly string[]> {
  const { sms, claim, settle, receive, driver } = ground;
  const to = Array.from({ length: count }, (_, index) => `+91${index}`);
  const ids = await sms({ to, content: { callbackUrl: "https://a.test/" } });
  for (const job of await claim(count)) await settle(job);
  for (const id of ids) await receive(`p-${id}`);
  await endWebhooks(driver);
  return ids;
}

async function endWebhooks(driver: Driver): Promise<void> {
  await driver.query("UPDATE webhooks SET state = 'delivered'");
}

test(
  "a day that is over is dropped, tables and all, and its contents a day later",
  () =>
    onGround(async (ground) => {
      const { store, clock, driver, inside, prune } = ground;
      const ids = await deliver(ground, 30);
      const first = Math.floor(clock.now / DAY);
      clock.now += DAY;
      await deliver(ground, 3);
      const days = (table: "messages" | "contents" | "timeline" | "events") => daysWith(driver, table);
      await prune(store.retention.pruneMessages, (first + 1) * DAY);
      for (const table of ["messages", "timeline", "events"] as const)
        expect(await days(table)).toEqual([first + 1]);
      expect(await days("contents")).toEqual([first, first + 1]);
      // Messages keep coming.
      clock.now += DAY;
      await deliver(ground, 3);
      await prune(store.retention.pruneMessages, (first + 2) * DAY);
      expect(await days("contents")).toEqual([first + 1, first + 2]);
      for (const id of ids) expect(await inside.countRows(id)).toBe(0);
      expect(await driver.query("SELECT 1 FROM webhook_attempts")).toEqual([]);
    }),
  120_000,
);

test(
  "what is written about a message between the walk over its day and the drop goes with the contents",
  () =>
    onGround(async (ground) => {
      const { store, clock, email, settle, claimOne, receive, inside, prune } = ground;
      const parts = [{ status: "pending", address: "asha@x.test" }] as const;
      const id = await email({ parts, jobs: [{ queue: QUEUE }], callbackUrl: "https://a.test/" });
      await settle(await claimOne(), { outcomes: [sent("p-1")] });
      await receive("p-1", { status: "delivered" });
      await deliver(ground, 20);
      const bounds = { before: clock.now + DAY, atLatest: 0, limit: 1 };
      expect(await store.retention.pruneMessages(bounds)).toBe(1);
      await receive("dsn", { status: "bounced", target: { messageId: id, part: 0 } });
      await prune(store.retention.pruneMessages, clock.now + DAY);
      await prune(store.retention.pruneMessages, clock.now + 2 * DAY);
      expect(await inside.countRows(id)).toBe(0);
    }),
  120_000,
);

test(
  "a process that has found a day whose contents another one drops before it has nothing to do",
  () =>
    onGround(async (ground) => {
      const { store, clock, driver, prune } = ground;
      await deliver(ground, 3);
      const day = Math.floor(clock.now / DAY);
      await prune(store.retention.pruneMessages, (day + 1) * DAY);
      const { database } = openClosable(driver, createSystemClock());
      const overtaken: typeof database = {
        ...database,
        async transaction(work) {
          await prune(store.retention.pruneMessages, (day + 2) * DAY);
          return database.transaction(work);
        },
      };
      const late = createPruneMessages(overtaken, { days: createDays(database) });
      expect(await prune(late, (day + 2) * DAY)).toBe(0);
      expect(await daysWith(driver, "contents")).not.toContain(day);
    }),
  120_000,
);

test(
  "when there is nothing more to do nothing is left, whatever days nobody sent on lie between",
  () =>
    onGround(async (ground) => {
      const { store, clock, driver, prune } = ground;
      await deliver(ground, 6);
      // The tables of this day and of the next two.
      await store.retention.prepareDays(clock.now);
      await prune(store.retention.pruneMessages, clock.now + 4 * DAY);
      for (const table of ["messages", "contents"] as const)
        expect(await daysWith(driver, table)).toEqual([]);
    }),
  120_000,
);

test(
  "what is scheduled or unfinished on the day of the drop survives it, and goes when it has ended",
  () =>
    onGround(async (ground) => {
      const { store, sms, claim, claimOne, settle, receive, clock, inside, prune, status, history } = ground;
      const gone = await deliver(ground, 12);
      const [later = ""] = await sms({ dueAt: clock.now + 9 * DAY, expiresAt: clock.now + 10 * DAY });
      const [unheard = "", delivered = ""] = await sms({ to: ["+911", "+912"] });
      for (const job of await claim(2)) await settle(job, { outcomes: [sent(`p-${job.messageId}`)] });
      await receive(`p-${delivered}`);
      expect(await prune(store.retention.pruneMessages, clock.now + 2 * DAY)).toBeGreaterThanOrEqual(13);
      for (const id of gone) expect(await inside.countRows(id)).toBe(0);
      const contentOfBatch = 1;
      expect(await inside.countRows(delivered)).toBe(contentOfBatch);
      expect(await history(unheard)).toEqual(["attempt:sent"]);
      await receive(`p-${unheard}`);
      expect(await status(unheard)).toBe("delivered");
      expect(await prune(store.retention.pruneMessages, clock.now + 2 * DAY)).toBe(1);
      expect(await inside.countRows(unheard)).toBe(0);
      clock.now += 9 * DAY;
      await store.queue.stage(clock.now, 10);
      const job = await claimOne();
      expect([job.messageId, job.content]).toMatchObject([later, { text: "code {#var#}" }]);
      await settle(job);
      await receive(`p-${later}`);
      expect(await status(later)).toBe("delivered");
      await prune(store.retention.pruneMessages, clock.now, clock.now - 2 * DAY);
      expect(await inside.countRows(later)).toBe(0);
    }),
  120_000,
);

test(
  "a day of which too much is unfinished goes row by row, once an hour, and at the latest whole",
  () =>
    onGround(async (ground) => {
      const { sms, claim, settle, receive, clock, driver, inside, prune, status } = ground;
      const gone = await deliver(ground, 12);
      const stay = await sms({ to: ["+911", "+912", "+913"], queue: "slow" });
      const closable = openClosable(driver, createSystemClock());
      const by = createPruneMessages(closable.database, { days: createDays(closable.within), maxKept: 2 });
      const before = clock.now + 2 * DAY;
      expect(await prune(by, before)).toBeGreaterThanOrEqual(12);
      for (const id of gone) expect(await inside.countRows(id)).toBe(0);
      expect(await Promise.all(stay.map((id) => status(id)))).toEqual(["queued", "queued", "queued"]);
      const [job] = await claim(1, "slow");
      await settle(job!);
      await receive(`p-${job!.messageId}`);
      expect(await prune(by, before + HOUR / 2)).toBe(0);
      expect(await prune(by, before + HOUR)).toBe(1);
      await prune(by, before + 2 * DAY, before);
      for (const id of stay) expect(await inside.countRows(id)).toBe(0);
      expect(await daysWith(driver, "messages")).toEqual([]);
      expect(await driver.query("SELECT 1 FROM old_days UNION ALL SELECT 1 FROM kept_messages")).toEqual([]);
    }),
  120_000,
);

test(
  "the content of a batch that was accepted over midnight stays for those of its messages that are of the day after",
  () =>
    onGround(async (ground) => {
      const { store, account, id, clock, claim, settle, receive, prune } = ground;
      const midnight = (Math.floor(clock.now / DAY) + 1) * DAY;
      const at = (now: number, dueAt?: number) => {
        clock.now = now;
        const message = { id: id(), recipient: "+911", parts: [], jobs: [{ queue: QUEUE }] };
        const expiresAt = midnight + 10 * DAY;
        return dueAt === undefined
          ? { ...message, expiresAt, status: "queued" as const }
          : { ...message, expiresAt, status: "scheduled" as const, dueAt };
      };
      const messages = [at(midnight - 1), at(midnight, midnight + 9 * DAY)];
      await store.intake.accept({ accountId: account.id, flow: "batch", content: SMS, messages });
      for (const job of await claim()) {
        await settle(job);
        await receive(`p-${job.messageId}`);
      }
      await prune(store.retention.pruneMessages, midnight + 3 * DAY);
      await store.queue.stage(midnight + 9 * DAY, 10);
      expect((await claim()).map(({ content }) => content)).toEqual([SMS]);
    }),
  120_000,
);

test(
  "contents that are still needed are moved to a table of their own once, and not with every call",
  () =>
    onGround(async (ground) => {
      const { store, sms, clock, driver, prune } = ground;
      await deliver(ground, 6);
      const table = tableOf("contents", Math.floor(clock.now / DAY));
      const tableNow = () => driver.query("SELECT $1::text::regclass::oid::int AS oid", [table]);
      await sms({ dueAt: clock.now + 9 * DAY, expiresAt: clock.now + 10 * DAY });
      const first = await tableNow();
      await prune(store.retention.pruneMessages, clock.now + 3 * DAY);
      const moved = await tableNow();
      expect(moved).not.toEqual(first);
      await prune(store.retention.pruneMessages, clock.now + 3 * DAY);
      expect(await tableNow()).toEqual(moved);
    }),
  120_000,
);

test(
  "a drop that somebody stands in the way of is left for later, and lets others pass",
  () =>
    onGround(async (ground) => {
      const { store, clock, driver, inside, prune, sms } = ground;
      const [id = ""] = await deliver(ground, 1);
      await driver.hold(async (connection) => {
        await connection.exec("BEGIN; SELECT 1 FROM messages LIMIT 1");
        const before = clock.now + 2 * DAY;
        const pruned = store.retention.pruneMessages({ before, atLatest: 0, limit: 10 });
        await sms();
        expect(await pruned).toBe(0);
        await connection.exec("COMMIT");
      });
      expect(await inside.countRows(id)).toBeGreaterThan(0);
      expect(await prune(store.retention.pruneMessages, clock.now + 2 * DAY)).toBe(1);
      expect(await inside.countRows(id)).toBe(0);
    }),
  120_000,
);

test(
  "what others write while a day's tables are replaced is not lost with the old ones, and other days' messages go on",
  () =>
    onGround(async (ground) => {
      const { store, clock, driver, sms, claimOne, settle, status } = ground;
      await deliver(ground, 1);
      const [unheard = ""] = await sms();
      await settle(await claimOne());
      const before = clock.now + 2 * DAY;
      await store.retention.prepareDays(before);
      const waiting = `SELECT 1 FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND datname = current_database()`;
      await driver.hold(async (connection) => {
        await connection.exec("BEGIN");
        await connection.query("UPDATE messages SET status = 'delivered' WHERE id = $1", [unheard]);
        const pruned = store.retention.pruneMessages({ before, atLatest: 0, limit: 10 });
        await until(
          () => driver.query(waiting),
          ({ length }) => length > 0,
        );
        clock.now = before;
        await sms();
        await settle(await claimOne());
        await connection.exec("COMMIT");
        expect(await pruned).toBe(1);
      });
      expect(await status(unheard)).toBe("delivered");
    }),
  120_000,
);

test(
  "days are made ahead of time",
  () =>
    onGround(async ({ store, clock, driver }) => {
      const today = Math.floor(clock.now / DAY);
      expect(await store.retention.prepareDays(clock.now)).toBe(0);
      expect(await daysWith(driver, "messages")).toEqual([today, today + 1, today + 2]);
    }),
  120_000,
);
