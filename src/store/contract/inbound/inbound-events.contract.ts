import { expect, test } from "bun:test";
import type { InboundPiece } from "../../../core/inbound/inbound.ts";
import type { FeedEvent } from "../../../core/webhooks/feed-event.ts";
import type { EventKey } from "../../../core/webhooks/webhook-outbox.ts";
import { DELIVERED, laneOf, settleWebhook, take } from "../webhooks/outbox.contract.ts";
import { DAY, HOUR, inWorld, numberAll, type OpenStore, SECOND, type World } from "../world.contract.ts";
import { HANDSET, map, NUMBER, piece } from "./inbound.contract.ts";

/** What an inbound message tells: the feed, and the webhook. */
export function inboundEventContract(open: OpenStore): void {
  test(
    "half a character that a provider hands over is shown everywhere as the sign for what cannot be read",
    inWorld(open, async (world) => {
      const { store, account } = world;
      await map(world);
      await store.inbound.receive([piece(world, { text: "half \ud83d", encoding: "ucs2" })]);
      await numberAll(world);
      const [message] = await store.inbound.list({ accountId: account.id, limit: 1 });
      const { events } = await store.feed.read({ accountId: account.id, after: 0, limit: 1 });
      expect(message?.text).toBe("half \ufffd");
      expect(events).toMatchObject([{ data: { text: "half \ufffd" } }]);
    }),
  );

  test(
    "an inbound message is in its account's feed, and where there is an inbound_url on its way there, and goes with both",
    inWorld(open, async (world) => {
      const { store, account, clock } = world;
      await map(world);
      const quiet = piece(world, { text: "quiet" });
      const heard = Promise.withResolvers<string>();
      const stop = store.feed.onEvents(heard.resolve);
      await store.inbound.receive([quiet]);
      await numberAll(world);
      expect(await heard.promise).toBe(account.id);
      stop();
      await store.records.setSettings(account.id, { inbound_url: "https://hooks.acme.test:8443/in?k=1" });
      const told = piece(world, { text: "STOP" });
      await store.inbound.receive([told, piece(world, { to: "nobody" })]);
      await numberAll(world);
      const { events } = await store.feed.read({ accountId: account.id, after: 0, limit: 10 });
      expect(events).toMatchObject([
        { kind: "other", type: "sms.received", id: `evt_${quiet.id}_1`, data: { text: "quiet" } },
        { kind: "other", type: "sms.received", at: told.receivedAt, data: { text: "STOP", keyword: "stop" } },
      ]);
      const lane = { accountId: account.id, host: "hooks.acme.test:8443" };
      expect(await store.outbox.readyLanes({ limit: 5 })).toEqual([lane]);
      const claim = { lanes: [{ lane, limit: 5 }], now: clock.now, leaseMs: SECOND };
      const [webhook, another] = await store.outbox.claim(claim);
      expect(another).toBeUndefined();
      expect(webhook).toMatchObject({
        messageId: told.id,
        sequence: 1,
        url: "https://hooks.acme.test:8443/in?k=1",
      });
      expect(JSON.parse(webhook!.body)).toEqual({
        type: "sms.received",
        timestamp: new Date(told.receivedAt).toISOString(),
        data: {
          message_id: told.id,
          account_id: account.id,
          from: HANDSET,
          to: NUMBER,
          text: "STOP",
          segments: 1,
          encoding: "gsm7",
          keyword: "stop",
          received_at: new Date(told.receivedAt).toISOString(),
        },
      });
      const latest = clock.now + HOUR;
      while ((await store.retention.pruneInbound({ before: latest, atLatest: latest, limit: 10 })) > 0);
      expect(await store.outbox.ofMessage(told.id)).toEqual([]);
      expect((await store.feed.read({ accountId: account.id, after: 0, limit: 10 })).events).toEqual([]);
    }),
  );

  test(
    "an inbound message takes its webhook and the deliveries of that along, and no other's",
    inWorld(open, async (world) => {
      const { store, account, clock } = world;
      await map(world);
      await store.records.setSettings(account.id, { inbound_url: "https://hooks.acme.test/" });
      const lanes = [{ lane: { accountId: account.id, host: "hooks.acme.test" }, limit: 5 }];
      const attempt = { at: clock.now, ms: 1, status: 200 };
      const receiveAndTell = async () => {
        const { id: messageId } = await receiveOne(world);
        const claimed = await store.outbox.claim({ lanes, now: clock.now, leaseMs: SECOND });
        const verdict = { kind: "delivered" } as const;
        await store.outbox.settle(claimed.map((each) => ({ ...each, verdict, attempt })));
        return { messageId, sequence: 1 };
      };
      const attemptsOf = async (event: EventKey) => (await store.outbox.attempts(event))?.length;
      const pruneUntil = async (before: number) => {
        while ((await store.retention.pruneInbound({ before, atLatest: 0, limit: 10 })) > 0);
      };
      const old = await receiveAndTell();
      clock.now += HOUR;
      const newer = await receiveAndTell();
      await pruneUntil(clock.now);
      expect([await attemptsOf(old), await attemptsOf(newer)]).toEqual([undefined, 1]);
      await pruneUntil(clock.now + HOUR);
      expect(await attemptsOf(newer)).toBeUndefined();
      // Whatever was forgotten would now be found under the number of the next one.
      expect(await attemptsOf(await receiveAndTell())).toBe(1);
    }),
  );

  test(
    "an inbound message stays in the feed until its webhook has come to its end, but not beyond the latest day",
    inWorld(open, async (world) => {
      const { store, account, clock } = world;
      await map(world);
      // One of ours beside them, which goes.
      const [sent = ""] = await world.sms();
      for (const job of await world.claim()) await world.settle(job);
      await world.receive(`p-${sent}`);
      await store.records.setSettings(account.id, { inbound_url: "https://hooks.acme.test/" });
      const [told, tried, failed] = [
        await receiveOne(world),
        await receiveOne(world),
        await receiveOne(world),
      ];
      await store.records.setSettings(account.id, { inbound_url: undefined });
      const quiet = await receiveOne(world);
      await numberAll(world);
      const prune = async (atLatest: number) => {
        // A day later: then the day is over as well, and a store may drop it as a whole.
        const bounds = { before: clock.now + DAY, atLatest, limit: 2 };
        while ((await store.retention.pruneInbound(bounds)) > 0);
        while ((await store.retention.pruneMessages(bounds)) > 0);
        const { events } = await store.feed.read({ accountId: account.id, after: 0, limit: 9 });
        const listed = await store.inbound.list({ accountId: account.id, limit: 9 });
        expect(listed.map(({ id }) => `evt_${id}_1`).toReversed()).toEqual(events.map(toId));
        return listed.map(({ id }) => id);
      };
      expect(await prune(0)).toEqual([failed.id, tried.id, told.id]);
      const verdicts = [
        DELIVERED,
        { kind: "again", at: clock.now + DAY },
        { kind: "ended", reason: "spent" },
      ] as const;
      const webhooks = await take(world, 10, laneOf(world, "hooks.acme.test"));
      expect(webhooks.map(({ messageId }) => messageId)).not.toContain(quiet.id);
      for (const [at, webhook] of webhooks.entries()) await settleWebhook(world, webhook, verdicts[at]!);
      clock.now += DAY;
      expect(await prune(0)).toEqual([tried.id]);
      expect(await prune(clock.now + DAY)).toEqual([]);
      expect(await store.outbox.ofMessage(tried.id)).toEqual([]);
    }),
  );
}

function toId(event: FeedEvent): string {
  if (event.kind === "other") return event.id;
  throw new Error("an event about a message of ours");
}

async function receiveOne(world: World): Promise<InboundPiece> {
  const one = piece(world);
  await world.store.inbound.receive([one]);
  return one;
}
