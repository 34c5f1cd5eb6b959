import { expect, test } from "bun:test";
import { until } from "../../../test/until.ts";
import type { FeedEvent } from "../../core/webhooks/feed-event.ts";
import {
  DAY,
  deferred,
  HOUR,
  inWorld,
  numberAll,
  type OpenStore,
  SECOND,
  sent,
  type World,
} from "./world.contract.ts";

export function eventFeedContract(open: OpenStore): void {
  test(
    "every public event of an account is read in the order in which it was committed, and no other's",
    inWorld(open, async (world) => {
      const { store, sms, settle, claimOne, receive, clock, addAccount } = world;
      const [id = ""] = await sms({ content: { metadata: { order: 7 } } });
      const job = await claimOne();
      await settle(job, { outcomes: [deferred()], next: { kind: "again", dueAt: clock.now } });
      await store.queue.stage(clock.now, 10);
      await settle(await claimOne());
      await receive(`p-${id}`, { receivedAt: clock.now + SECOND });
      const other = await addAccount();
      const [foreign = ""] = await sms({ account: other });
      await settle(await claimOne());
      const { events } = await readAll(world);
      expect(events).toEqual([
        {
          kind: "message",
          message: expect.objectContaining({ id, accountId: world.account.id, recipient: "+919812345678" }),
          entry: expect.objectContaining({ eventType: "sms.sent", sequence: 1, at: clock.now }),
        },
        {
          kind: "message",
          message: expect.objectContaining({ content: expect.objectContaining({ metadata: { order: 7 } }) }),
          entry: expect.objectContaining({ eventType: "sms.delivered", sequence: 2 }),
        },
      ]);
      expect(JSON.stringify(events)).not.toContain("{#var#}");
      const theirs = await readAll(world, other.id);
      expect(theirs.events.map(idOf)).toEqual([foreign]);
      const lastNumbers = [world.account.id, other.id, "nobody"].map(store.feed.lastNumberOf);
      expect(await Promise.all(lastNumbers)).toEqual([(await readAll(world)).next, theirs.next, 0]);
    }),
  );

  test(
    "what cursors are sealed under stays the same",
    inWorld(open, async ({ store }) => {
      const keys = await Promise.all([store.feed.cursorKey(), store.feed.cursorKey()]);
      expect(keys[0]).toHaveLength(32);
      expect(keys[1]).toEqual(keys[0]!);
      expect(await store.feed.cursorKey()).toEqual(keys[0]!);
    }),
  );

  test(
    "an email has an event for each recipient",
    inWorld(open, async (world) => {
      const parts = [
        { status: "pending", address: "a@x.test" },
        { status: "pending", address: "b@x.test" },
      ] as const;
      await world.email({ parts, jobs: [{ queue: "queue-a" }] });
      const error = { code: "smtp.550", message: "no such user" };
      const outcomes = [sent("p-1"), { kind: "rejected", bounced: true, error } as const];
      await world.settle(await world.claimOne(), { outcomes });
      const { events } = await readAll(world);
      expect(events.map(nameOf)).toEqual(["email.sent a@x.test", "email.bounced b@x.test"]);
    }),
  );

  test(
    "a reader goes on where it was, a page at a time",
    inWorld(open, async (world) => {
      const ids = await world.sms({ to: ["+911", "+912", "+913"] });
      for (const job of await world.claim()) await world.settle(job);
      const first = await read(world, { limit: 2 });
      expect(first.events.map(idOf)).toEqual(ids.slice(0, 2));
      expect(first.events).toMatchObject([
        { message: { recipient: "+911" } },
        { message: { recipient: "+912" } },
      ]);
      const second = await read(world, { limit: 2, after: first.next });
      expect(second.events.map(idOf)).toEqual(ids.slice(2));
      expect(second.next).toBe(await world.store.feed.lastNumber());
      expect(await read(world, { limit: 2, after: second.next })).toEqual({ events: [], next: second.next });
    }),
  );

  test(
    "a page is cut short where the events are large, never to nothing, though one alone is larger than a page",
    inWorld(open, async (world) => {
      let after = 0;
      for (const octets of [700_000, 1_200_000]) {
        const ids = await world.sms({
          to: ["+911", "+912"],
          content: { metadata: { long: "x".repeat(octets) } },
        });
        for (const job of await world.claim()) await world.settle(job);
        const found: string[] = [];
        for (let page = 0; page < 2; page++) {
          const { events, next } = await read(world, { limit: 10, after });
          expect(events).toHaveLength(1);
          found.push(...events.map(idOf));
          after = next;
        }
        expect(found).toEqual(ids);
      }
    }),
  );

  test(
    "a reader never skips an event that commits late",
    inWorld(open, async (world) => {
      const { store, account } = world;
      const to = Array.from({ length: 60 }, (_, index) => `+91${index}`);
      await world.sms({ to });
      const jobs = await world.claim(to.length);
      let isOver = false;
      const follow = async () => {
        const seen: string[] = [];
        for (let after = 0, isLast = false; ; ) {
          await store.feed.numberEvents(2);
          const page = await store.feed.read({ accountId: account.id, after, limit: 3 });
          seen.push(...page.events.map(idOf));
          after = page.next;
          if (isLast && page.events.length === 0) return seen;
          isLast = isOver;
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      const followers = [follow(), follow()];
      const settleAll = jobs.map(async (job, index) => {
        for (let turns = index % 7; turns > 0; turns--) await new Promise((turn) => setImmediate(turn));
        await world.settle(job);
      });
      // A follower that is just numbering leaves nothing to do for others.
      const readNow = async () => {
        await numberAll(world);
        return (await readAll(world)).events.map(idOf);
      };
      const all = await Promise.all(settleAll)
        .then(() => until(readNow, ({ length }) => length === to.length))
        .finally(() => {
          isOver = true;
          return Promise.allSettled(followers);
        });
      expect(all.toSorted()).toEqual(jobs.map((job) => job.messageId).toSorted());
      for (const follower of followers) expect(await follower).toEqual(all);
    }),
  );

  test(
    "who waits is told of events once they can be read, until it no longer listens",
    inWorld(open, async (world) => {
      const { store, account } = world;
      const told: (readonly string[])[] = [];
      await world.sms({ to: ["+911", "+912"] });
      const [first, second] = await world.claim();
      const heard = Promise.withResolvers<string>();
      const stop = store.feed.onEvents((accountId) => {
        told.push([accountId]);
        heard.resolve(accountId);
      });
      await world.settle(first!);
      await numberAll(world);
      expect(await heard.promise).toBe(account.id);
      expect((await readAll(world)).events).toHaveLength(1);
      stop();
      await world.settle(second!);
      await numberAll(world);
      expect(told).toEqual([[account.id]]);
    }),
  );

  test(
    "the events of a message that has come to its end only now stay for as long as it is to be quiet, and no longer",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, receive, inside, clock } = world;
      const [id = ""] = await sms();
      const [unfinished = ""] = await sms({ queue: "slow" });
      clock.now += 8 * DAY;
      await settle(await claimOne());
      await receive(`p-${id}`);
      const leftAfterPruning = async () => {
        const bounds = { before: clock.now - 6 * DAY, atLatest: 0, quietSince: clock.now - 12 * HOUR };
        while ((await world.store.retention.pruneMessages({ ...bounds, limit: 10 })) > 0);
        return (await readAll(world)).events.map(nameOf);
      };
      expect(await leftAfterPruning()).toEqual(["sms.sent", "sms.delivered"]);
      clock.now += 11 * HOUR;
      expect(await leftAfterPruning()).toEqual(["sms.sent", "sms.delivered"]);
      clock.now += 7 * HOUR;
      expect(await leftAfterPruning()).toEqual([]);
      expect(await inside.countRows(id)).toBe(0);
      expect(await inside.countRows(unfinished)).toBeGreaterThan(0);
    }),
  );

  test(
    "events go with their message, and their numbers are not given again",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      const settleOne = async () => {
        const [id = ""] = await world.sms();
        await world.settle(await world.claimOne());
        await world.receive(`p-${id}`);
      };
      await settleOne();
      await numberAll(world);
      const last = await store.feed.lastNumber();
      clock.now += 2 * DAY;
      while ((await store.retention.pruneMessages({ before: clock.now, atLatest: 0, limit: 10 })) > 0);
      expect((await readAll(world)).events).toEqual([]);
      expect(await store.feed.lastNumber()).toBe(last);
      await settleOne();
      expect((await read(world, { after: last })).events.map(nameOf)).toEqual(["sms.sent", "sms.delivered"]);
    }),
  );
}

async function read(world: World, over: { after?: number; limit?: number; accountId?: string } = {}) {
  await numberAll(world);
  const { store, account } = world;
  return store.feed.read({ accountId: account.id, after: 0, limit: 100, ...over });
}

function readAll(world: World, accountId = world.account.id) {
  return read(world, { accountId });
}

function idOf(event: FeedEvent): string {
  return event.kind === "message" ? event.message.id : event.id;
}

function nameOf(event: FeedEvent): string {
  if (event.kind === "other") return event.type;
  return [event.entry.eventType, event.entry.recipient].filter(Boolean).join(" ");
}
