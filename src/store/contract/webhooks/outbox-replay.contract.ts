import { expect, test } from "bun:test";
import type { ListOrder } from "../../../core/lists/list-order.ts";
import type { WebhookSelection, WebhookVerdict } from "../../../core/webhooks/webhook-outbox.ts";
import { DAY, HOUR, inWorld, type OpenStore, SECOND, type World } from "../world.contract.ts";

const HOSTS = ["a.test", "b.test"];

/** One message to each host, an hour apart, whose only event rests: delivered, then failed. */
async function restingEvents(world: World): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const [index, host] of HOSTS.entries()) {
    const [id = ""] = await world.sms({ content: { callbackUrl: `https://${host}/` } });
    await world.settle(await world.claimOne());
    await deliver(world, host, index === 0 ? { kind: "delivered" } : { kind: "ended", reason: "gone" });
    ids.push(id);
    world.clock.now += HOUR;
  }
  return ids;
}

async function deliver(
  { store, clock, account }: World,
  host: string,
  verdict: WebhookVerdict,
): Promise<number> {
  const lane = { accountId: account.id, host };
  const request = { lanes: [{ lane, limit: 10 }], now: clock.now, leaseMs: HOUR };
  const claimed = await store.outbox.claim(request);
  const attempt = { at: clock.now, ms: 1, error: { code: "timeout", message: "no answer in time" } };
  await store.outbox.settle(claimed.map((event) => ({ ...event, verdict, attempt })));
  return claimed.length;
}

/** The messages of an account's events, a page of one at a time. */
async function pagesOf(
  { store, account }: World,
  order: ListOrder,
  selection: Omit<WebhookSelection, "accountId"> = {},
): Promise<readonly string[]> {
  const seen: string[] = [];
  let after: string | undefined;
  do {
    const page = { order, limit: 1, ...(after !== undefined && { after }) };
    const { events, next } = await store.outbox.list({ ...selection, accountId: account.id }, page);
    seen.push(...events.map(({ messageId }) => messageId));
    after = next;
  } while (after !== undefined);
  return seen;
}

export function outboxReplayContract(open: OpenStore): void {
  test(
    "an event that rests is replayed with the same body and the whole schedule before it",
    inWorld(open, async (world) => {
      const { store, clock, account } = world;
      const [id = "", failed = ""] = await restingEvents(world);
      expect(await store.outbox.replay({ messageId: id, sequence: 1 })).toBe(true);
      expect(await store.outbox.replay({ messageId: failed, sequence: 1 })).toBe(true);
      const lanes = HOSTS.map((host) => ({ lane: { accountId: account.id, host }, limit: 5 }));
      const claimed = await store.outbox.claim({ lanes, now: clock.now, leaseMs: HOUR });
      expect(claimed.map(({ messageId, failures }) => [messageId, failures])).toEqual([
        [id, 0],
        [failed, 0],
      ]);
      expect(await store.outbox.replay({ messageId: id, sequence: 1 })).toBe(false);
      expect(await store.outbox.replay({ messageId: id, sequence: 2 })).toBe(false);
    }),
  );

  test(
    "an event whose last try has failed can be replayed for as long as its message is to be quiet, however old that is by then",
    inWorld(open, async (world) => {
      const { store, clock, inside, receive } = world;
      const [delivered = "", failed = ""] = await restingEvents(world);
      for (const id of [delivered, failed]) await receive(`p-${id}`);
      for (const host of HOSTS) await deliver(world, host, { kind: "delivered" });
      clock.now += 8 * DAY;
      for (const messageId of [delivered, failed]) await store.outbox.replay({ messageId, sequence: 2 });
      await deliver(world, "a.test", { kind: "delivered" });
      await deliver(world, "b.test", { kind: "ended", reason: "gone" });
      const triedAt = clock.now;
      const pruneAt = async (now: number) => {
        const bounds = { before: now - 6 * DAY, atLatest: 0, quietSince: now - 12 * HOUR, limit: 10 };
        while ((await store.retention.pruneMessages(bounds)) > 0);
        return Promise.all([delivered, failed].map(async (id) => (await store.outbox.ofMessage(id)).length));
      };
      expect(await pruneAt(triedAt + 11 * HOUR)).toEqual([0, 2]);
      expect(await pruneAt(triedAt + 18 * HOUR)).toEqual([0, 0]);
      expect(await inside.countRows(failed)).toBe(0);
    }),
  );

  test.each<[string, Omit<WebhookSelection, "accountId">, readonly number[]]>([
    ["all", {}, [0, 1]],
    ["of a host", { host: "b.test" }, [1]],
    ["failed", { state: "failed" }, [1]],
    ["failed of a host", { state: "failed", host: "a.test" }, []],
    ["since an hour ago", { since: HOUR }, [1]],
    ["until an hour ago", { until: HOUR }, [0]],
  ])("what rests is listed and replayed: %s", (_, given, expected) =>
    inWorld(open, async (world) => {
      const start = world.clock.now;
      const ids = await restingEvents(world);
      const selection = {
        ...given,
        accountId: world.account.id,
        ...(given.since !== undefined && { since: start + given.since }),
        ...(given.until !== undefined && { until: start + given.until }),
      };
      const { events } = await world.store.outbox.list(selection, { limit: 10 });
      const wanted = expected.map((index) => ids[index]);
      expect(events.map(({ messageId }) => messageId)).toEqual(wanted as string[]);
      expect(await world.store.outbox.replayAll(selection, { limit: 10 })).toEqual({
        replayed: wanted.length,
      });
      expect(await world.store.outbox.backlog()).toEqual({ ready: wanted.length, waiting: 0 });
    })(),
  );

  test(
    "what waits for its next try is replayed at once if that is asked for, and then nothing else",
    inWorld(open, async (world) => {
      const { store, clock, account } = world;
      await restingEvents(world);
      await world.sms({ content: { callbackUrl: "https://c.test/" } });
      await world.settle(await world.claimOne());
      await deliver(world, "c.test", { kind: "again", at: clock.now + DAY });
      const { outbox } = store;
      const ofC = { accountId: account.id, host: "c.test" };
      for (const selection of [ofC, { ...ofC, state: "failed" } as const])
        expect(await outbox.replayAll(selection, { limit: 10 })).toEqual({ replayed: 0 });
      expect(await outbox.backlog()).toEqual({ ready: 0, waiting: 1 });
      const waiting = { accountId: account.id, state: "waiting" } as const;
      expect(await outbox.replayAll(waiting, { limit: 10 })).toEqual({ replayed: 1 });
      expect(await deliver(world, "c.test", { kind: "delivered" })).toBe(1);
      expect(await outbox.replayAll(waiting, { limit: 10 })).toEqual({ replayed: 0 });
      expect(await outbox.backlog()).toEqual({ ready: 0, waiting: 0 });
    }),
  );

  test(
    "pages go on where the one before ended, and nobody sees another account's events",
    inWorld(open, async (world) => {
      const { store } = world;
      const ids = [...(await restingEvents(world)), ...(await restingEvents(world))];
      expect(await pagesOf(world, "oldest")).toEqual(ids);
      expect(await pagesOf(world, "newest")).toEqual(ids.toReversed());
      const failed = ids.filter((_, index) => index % 2 === 1);
      expect(await pagesOf(world, "newest", { state: "failed" })).toEqual(failed.toReversed());
      expect(await pagesOf(world, "oldest", { host: "b.test" })).toEqual(failed);
      const other = await world.addAccount();
      expect(await store.outbox.list({ accountId: other.id }, { limit: 10 })).toEqual({ events: [] });
    }),
  );

  test(
    "a replay goes on where the one before ended, so that in the end all are replayed, each once",
    inWorld(open, async (world) => {
      const { outbox } = world.store;
      const ids = [...(await restingEvents(world)), ...(await restingEvents(world))];
      const replayed: number[] = [];
      let after: string | undefined;
      do {
        const page = { limit: 3, ...(after !== undefined && { after }) };
        const done = await outbox.replayAll({ accountId: world.account.id }, page);
        replayed.push(done.replayed);
        after = done.next;
      } while (after !== undefined);
      expect(replayed).toEqual([3, 1]);
      expect(await outbox.backlog()).toEqual({ ready: ids.length, waiting: 0 });
    }),
  );

  test(
    "of events of one moment each is on one page, from whichever end, and a time bounds both",
    inWorld(open, async (world) => {
      const start = world.clock.now;
      const ids: string[] = [];
      for (let n = 0; n < 6; n++) {
        ids.push(...(await world.sms({ content: { callbackUrl: "https://a.test/" } })));
        await world.settle(await world.claimOne());
        if (n % 3 === 2) world.clock.now += HOUR;
      }
      expect(await pagesOf(world, "oldest")).toEqual(ids);
      expect(await pagesOf(world, "newest")).toEqual(ids.toReversed());
      const early = ids.slice(0, 3);
      expect(await pagesOf(world, "newest", { since: start, until: start + HOUR })).toEqual(
        early.toReversed(),
      );
      expect(await pagesOf(world, "newest", { since: start + HOUR })).toEqual(ids.slice(3).toReversed());
    }),
  );

  test(
    "of a range what rests is replayed; what is in line, waits for its next try or is being delivered goes on as it was",
    inWorld(open, async (world) => {
      const { store, clock, account } = world;
      const lanes = [{ lane: { accountId: account.id, host: "a.test" }, limit: 10 }];
      const begin = async () => {
        const [id = ""] = await world.sms({ content: { callbackUrl: "https://a.test/" } });
        await world.settle(await world.claimOne());
        return id;
      };
      const take = async () => (await store.outbox.claim({ lanes, now: clock.now, leaseMs: HOUR }))[0]!;
      const ids = [await begin()];
      await deliver(world, "a.test", { kind: "delivered" });
      ids.push(await begin());
      const attempt = { at: clock.now, ms: 2, status: 500 };
      const verdict = { kind: "again", at: clock.now + HOUR } as const;
      await store.outbox.settle([{ ...(await take()), verdict, attempt }]);
      ids.push(await begin());
      const begun = await take();
      ids.push(await begin());
      const selection = { accountId: account.id };
      const { events } = await store.outbox.list(selection, { limit: 10 });
      expect(events.map(({ lastAttempt }) => lastAttempt?.ms)).toEqual([1, 2, undefined, undefined]);
      expect(await store.outbox.replayAll(selection, { limit: 10 })).toEqual({ replayed: 1 });
      const found = await Promise.all(ids.map((id) => store.outbox.ofMessage(id)));
      expect(found.flat().map(({ state }) => state)).toEqual(["ready", "waiting", "leased", "ready"]);
      expect(await store.outbox.settle([{ ...begun, verdict, attempt }])).toEqual([true]);
    }),
  );

  test(
    "an event that failed is replayed without the later one of its message that was delivered",
    inWorld(open, async (world) => {
      const { store, account } = world;
      const [id = ""] = await world.sms({ content: { callbackUrl: "https://a.test/" } });
      await world.settle(await world.claimOne());
      await world.receive(`p-${id}`);
      await deliver(world, "a.test", { kind: "ended", reason: "gone" });
      await deliver(world, "a.test", { kind: "delivered" });
      const failed = { accountId: account.id, state: "failed" } as const;
      expect(await store.outbox.replayAll(failed, { limit: 10 })).toEqual({ replayed: 1 });
      const states = (await store.outbox.ofMessage(id)).map(({ state }) => state);
      expect(states).toEqual(["ready", "delivered"]);
    }),
  );

  test(
    "events of one message keep their order when they are replayed together",
    inWorld(open, async (world) => {
      const { store, account } = world;
      const [id = ""] = await world.sms({ content: { callbackUrl: "https://a.test/" } });
      await world.settle(await world.claimOne());
      await world.receive(`p-${id}`);
      while ((await deliver(world, "a.test", { kind: "delivered" })) > 0);
      await store.outbox.replayAll({ accountId: account.id }, { limit: 10 });
      const states = (await store.outbox.ofMessage(id)).map(({ state }) => state);
      expect(states).toEqual(["ready", "held"]);
      expect(await deliver(world, "a.test", { kind: "delivered" })).toBe(1);
      expect(await deliver(world, "a.test", { kind: "delivered" })).toBe(1);
    }),
  );

  test.each([
    ["on one page", 10],
    ["on a page each", 1],
  ])("events of one message keep their order though the later one has the earlier time: %s", (_, limit) =>
    inWorld(open, async (world) => {
      const { store, account, clock } = world;
      const [id = ""] = await world.sms({ content: { callbackUrl: "https://a.test/" } });
      await world.settle(await world.claimOne());
      // The receipt came to a process whose clock is behind.
      clock.now -= SECOND;
      await world.receive(`p-${id}`);
      while ((await deliver(world, "a.test", { kind: "delivered" })) > 0);
      let after: string | undefined;
      do {
        const page = { limit, ...(after !== undefined && { after }) };
        const { replayed, next } = await store.outbox.replayAll({ accountId: account.id }, page);
        expect(replayed).toBe(Math.min(limit, 2));
        after = next;
      } while (after !== undefined);
      const states = (await store.outbox.ofMessage(id)).map(({ state }) => state);
      expect(states).toEqual(["ready", "held"]);
    })(),
  );

  test(
    "a delivery that began before the replay and ends after it does not count for it",
    inWorld(open, async (world) => {
      const { store, clock, account } = world;
      const [id = ""] = await world.sms({ content: { callbackUrl: "https://a.test/" } });
      await world.settle(await world.claimOne());
      const lanes = [{ lane: { accountId: account.id, host: "a.test" }, limit: 1 }];
      const [begun] = await store.outbox.claim({ lanes, now: clock.now, leaseMs: HOUR });
      expect(await store.outbox.stage(clock.now + HOUR, 10)).toBe(1);
      expect(await store.outbox.replay({ messageId: id, sequence: 1 })).toBe(true);
      const attempt = { at: clock.now, ms: 1, status: 410 };
      const verdict = { kind: "ended", reason: "gone" } as const;
      expect(await store.outbox.settle([{ ...begun!, verdict, attempt }])).toEqual([false]);
      expect(await store.outbox.ofMessage(id)).toMatchObject([{ state: "ready", failures: 0, attempts: 1 }]);
      const [again] = await store.outbox.claim({ lanes, now: clock.now, leaseMs: HOUR });
      expect(await store.outbox.settle([{ ...begun!, verdict, attempt }])).toEqual([false]);
      expect(await store.outbox.settle([{ ...again!, verdict, attempt }])).toEqual([true]);
    }),
  );
}
