import { expect, test } from "bun:test";
import type { ClaimedWebhook, Lane, WebhookVerdict } from "../../../core/webhooks/webhook-outbox.ts";
import { DAY, HOUR, inWorld, type OpenStore, SECOND, type World } from "../world.contract.ts";

const HOST = "hooks.test:8443";
export const CALLBACK = { callbackUrl: `https://${HOST}/hook?a=1`, metadata: { order: 7 } };

/** Sends one message and hears that it was delivered: two events. */
export async function sendAndReceive(world: World, content = CALLBACK): Promise<string> {
  const [id = ""] = await world.sms({ content });
  await world.settle(await world.claimOne());
  await world.receive(`p-${id}`);
  return id;
}

export function laneOf({ account }: World, host = HOST): Lane {
  return { accountId: account.id, host };
}

export function take(world: World, limit = 10, lane = laneOf(world)): Promise<readonly ClaimedWebhook[]> {
  const { store, clock } = world;
  return store.outbox.claim({ lanes: [{ lane, limit }], now: clock.now, leaseMs: 60 * SECOND });
}

export function settleWebhook(
  { store, clock }: World,
  { id, messageId, claim }: Pick<ClaimedWebhook, "id" | "messageId" | "claim">,
  verdict: WebhookVerdict,
): Promise<readonly boolean[]> {
  const attempt = { at: clock.now, ms: 12, status: verdict.kind === "delivered" ? 204 : 500, head: "hm" };
  return store.outbox.settle([{ id, messageId, claim, verdict, attempt }]);
}

export const DELIVERED: WebhookVerdict = { kind: "delivered" };

export async function states({ store }: World, id: string): Promise<readonly string[]> {
  return (await store.outbox.ofMessage(id)).map(({ sequence, state }) => `${sequence} ${state}`);
}

export function outboxContract(open: OpenStore): void {
  test(
    "the change of status brings its event, in line where it is the first and held where it is not",
    inWorld(open, async (world) => {
      const notified: Lane[] = [];
      world.store.outbox.onReady((lane) => void notified.push(lane));
      const id = await sendAndReceive(world);
      expect(await states(world, id)).toEqual(["1 ready", "2 held"]);
      expect(notified).toEqual([laneOf(world)]);
      expect(await world.store.outbox.readyLanes({ limit: 10 })).toEqual([laneOf(world)]);
      const [event, ...others] = await take(world);
      expect(others).toEqual([]);
      expect(event).toMatchObject({ messageId: id, sequence: 1, failures: 0, url: CALLBACK.callbackUrl });
      expect(JSON.parse(event?.body ?? "")).toMatchObject({
        type: "sms.sent",
        data: { message_id: id, sequence: 1, status: "sent", metadata: { order: 7 } },
      });
      expect(await take(world)).toEqual([]);
    }),
  );

  test(
    "who waits is told of an event that is in line, and not of one that is held",
    inWorld(open, async (world) => {
      const notified: Lane[] = [];
      world.store.outbox.onReady((lane) => void notified.push(lane));
      const [id = ""] = await world.sms({ content: CALLBACK });
      await world.settle(await world.claimOne());
      expect(notified).toEqual([laneOf(world)]);
      await world.receive(`p-${id}`);
      expect(await states(world, id)).toEqual(["1 ready", "2 held"]);
      expect(notified).toEqual([laneOf(world)]);
    }),
  );

  test(
    "what is claimed for several accounts at once names the account of each",
    inWorld(open, async (world) => {
      const accounts = [world.account, await world.addAccount()];
      for (const account of accounts) {
        await world.sms({ account, content: CALLBACK });
        await world.settle(await world.claimOne());
      }
      const lanes = accounts.map((account) => ({ lane: laneOf({ ...world, account }), limit: 10 }));
      const claim = { lanes, now: world.clock.now, leaseMs: HOUR };
      const claimed = await world.store.outbox.claim(claim);
      const ids = claimed.map(({ lane, body }) => [lane.accountId, JSON.parse(body).data.account_id]);
      expect(ids).toEqual(accounts.map(({ id }) => [id, id]));
    }),
  );

  test(
    "a message without a callback URL has no webhooks",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms();
      await world.settle(await world.claimOne());
      expect(await states(world, id)).toEqual([]);
      expect(await world.store.outbox.readyLanes({ limit: 10 })).toEqual([]);
    }),
  );

  test(
    "the next event goes when the one before it is delivered",
    inWorld(open, async (world) => {
      const id = await sendAndReceive(world);
      const [first] = await take(world);
      expect(await settleWebhook(world, first!, DELIVERED)).toEqual([true]);
      expect(await states(world, id)).toEqual(["1 delivered", "2 ready"]);
      const [second] = await take(world);
      expect(second?.sequence).toBe(2);
      await settleWebhook(world, second!, DELIVERED);
      const attempts = await world.store.outbox.attempts({ messageId: id, sequence: 2 });
      expect(attempts).toEqual([{ at: world.clock.now, ms: 12, status: 204, head: "hm" }]);
    }),
  );

  test(
    "an event that has failed twice is overtaken, one that has ended holds up nobody",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      const id = await sendAndReceive(world);
      for (const expected of ["2 held", "2 ready"]) {
        const [event] = await take(world);
        await settleWebhook(world, event!, { kind: "again", at: clock.now + SECOND });
        expect(await states(world, id)).toEqual(["1 waiting", expected]);
        expect(await store.outbox.nextDueAt()).toBe(clock.now + SECOND);
        expect(await store.outbox.stage(clock.now, 10)).toBe(0);
        expect(await store.outbox.stage(clock.now + SECOND, 10)).toBe(1);
      }
      const other = await sendAndReceive(world);
      const claimed = await take(world);
      expect(claimed.map(({ sequence, failures }) => [sequence, failures])).toEqual([
        [1, 2],
        [2, 0],
        [1, 0],
      ]);
      await settleWebhook(world, claimed[2]!, { kind: "ended", reason: "gone" });
      expect(await states(world, other)).toEqual(["1 failed", "2 ready"]);
    }),
  );

  test(
    "what is due next is told from retries and leases alike, whichever ends first",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      for (let count = 0; count < 3; count++) await sendAndReceive(world);
      const [first, second] = await take(world);
      await settleWebhook(world, first!, { kind: "again", at: clock.now + HOUR });
      expect(await store.outbox.nextDueAt()).toBe(clock.now + 60 * SECOND);
      await settleWebhook(world, second!, { kind: "again", at: clock.now + SECOND });
      expect(await store.outbox.nextDueAt()).toBe(clock.now + SECOND);
    }),
  );

  test(
    "a lease that ran out is claimed again, and the claim before it moves nothing but is noted",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      const id = await sendAndReceive(world);
      const [lost] = await take(world);
      expect(await store.outbox.stage(clock.now + 59 * SECOND, 10)).toBe(0);
      expect(await store.outbox.stage(clock.now + 60 * SECOND, 10)).toBe(1);
      const [current] = await take(world);
      expect(current).toMatchObject({ id: lost!.id, body: lost!.body, failures: 0 });
      expect(await settleWebhook(world, lost!, DELIVERED)).toEqual([false]);
      expect(await states(world, id)).toEqual(["1 leased", "2 held"]);
      expect(await settleWebhook(world, current!, { kind: "released" })).toEqual([true]);
      expect(await states(world, id)).toEqual(["1 ready", "2 held"]);
      expect(await store.outbox.attempts({ messageId: id, sequence: 1 })).toHaveLength(1);
    }),
  );

  test(
    "what is delivered stays so, though its delivery is settled once more",
    inWorld(open, async (world) => {
      const id = await sendAndReceive(world);
      const [event] = await take(world);
      expect(await settleWebhook(world, event!, DELIVERED)).toEqual([true]);
      const again = { kind: "again", at: world.clock.now + SECOND } as const;
      expect(await settleWebhook(world, event!, again)).toEqual([false]);
      expect(await states(world, id)).toEqual(["1 delivered", "2 ready"]);
    }),
  );

  test(
    "of leases that ran out those of held events go on, and hold up nothing else",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      const ids = [await sendAndReceive(world), await sendAndReceive(world)];
      const [held, other] = await take(world);
      const sweeper = { inFlight: [held!.id] };
      expect(await store.outbox.stage(clock.now + HOUR, 1, sweeper)).toBe(1);
      expect(await store.outbox.stage(clock.now + HOUR, 1, sweeper)).toBe(0);
      expect([held!.messageId, other!.messageId]).toEqual(ids);
      expect(await states(world, held!.messageId)).toEqual(["1 leased", "2 held"]);
      expect(await states(world, other!.messageId)).toEqual(["1 ready", "2 held"]);
      expect(await settleWebhook(world, held!, DELIVERED)).toEqual([true]);
    }),
  );

  test(
    "staging moves no more than its limit, leases that ran out first, then the retries due first",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      for (let count = 0; count < 4; count++) await sendAndReceive(world);
      const [late, soon, ...leased] = await take(world);
      await settleWebhook(world, late!, { kind: "again", at: clock.now + 2 * SECOND });
      await settleWebhook(world, soon!, { kind: "again", at: clock.now + SECOND });
      expect(await store.outbox.stage(clock.now + HOUR, 3)).toBe(3);
      for (const { messageId } of [soon!, ...leased])
        expect(await states(world, messageId)).toEqual(["1 ready", "2 held"]);
      expect(await states(world, late!.messageId)).toEqual(["1 waiting", "2 held"]);
      expect(await store.outbox.stage(clock.now + HOUR, 3)).toBe(1);
    }),
  );

  test(
    "a lane is named once, however much is in it, and a claim takes from those it names no more than it says, the oldest first",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      const ids = [];
      for (let n = 0; n < 3; n++) ids.push(await sendAndReceive(world));
      for (let n = 0; n < 2; n++)
        await sendAndReceive(world, { ...CALLBACK, callbackUrl: "https://other.test/" });
      const found = await store.outbox.readyLanes({ limit: 10 });
      expect(found.map(({ host }) => host).toSorted()).toEqual([HOST, "other.test"]);
      expect(await store.outbox.readyLanes({ limit: 1 })).toEqual(found.slice(0, 1));
      const lanes = [HOST, "other.test", "no.test"].map((host) => ({ lane: laneOf(world, host), limit: 2 }));
      const claimed = await store.outbox.claim({ lanes, now: clock.now, leaseMs: HOUR });
      expect(claimed.map(({ lane }) => lane.host)).toEqual([HOST, HOST, "other.test", "other.test"]);
      expect(claimed.slice(0, 2).map(({ messageId }) => messageId)).toEqual(ids.slice(0, 2));
      const after = laneOf(world);
      expect(await store.outbox.readyLanes({ limit: 10 })).toEqual([after]);
      expect(await store.outbox.readyLanes({ after, limit: 10 })).toEqual([]);
      expect(await store.outbox.backlog()).toEqual({ ready: 1, waiting: 0 });
    }),
  );

  test(
    "no more than the last twenty deliveries of an event are kept",
    inWorld(open, async (world) => {
      const id = await sendAndReceive(world);
      for (let n = 0; n < 22; n++) {
        const [event] = await take(world);
        await settleWebhook(world, event!, { kind: "again", at: ++world.clock.now });
        await world.store.outbox.stage(world.clock.now, 10);
      }
      const attempts = await world.store.outbox.attempts({ messageId: id, sequence: 1 });
      expect(attempts).toHaveLength(20);
      expect(attempts?.at(-1)?.at).toBe(world.clock.now);
      const lastAttempt = { at: world.clock.now, ms: 12, status: 500 };
      const [event] = await world.store.outbox.ofMessage(id);
      expect(event).toMatchObject({ attempts: 22, failures: 22, lastAttempt });
      const { events } = await world.store.outbox.list({ accountId: world.account.id }, { limit: 10 });
      expect(events[0]).toEqual(event!);
      expect(events[1]?.lastAttempt).toBeUndefined();
    }),
  );

  test(
    "a delivery whose message went meanwhile moves nothing, whoever has its place now",
    inWorld(open, async (world) => {
      const id = await sendAndReceive(world);
      const [gone] = await take(world);
      const later = world.clock.now + 2 * DAY;
      while ((await world.store.retention.pruneMessages({ before: later, atLatest: later, limit: 10 })) > 0);
      expect(await states(world, id)).toEqual([]);
      const next = await sendAndReceive(world);
      await take(world);
      expect(await settleWebhook(world, gone!, DELIVERED)).toEqual([false]);
      expect(await states(world, next)).toEqual(["1 leased", "2 held"]);
      expect(await world.store.outbox.attempts({ messageId: next, sequence: 1 })).toEqual([]);
    }),
  );

  test(
    "webhooks go with their message",
    inWorld(open, async (world) => {
      const id = await sendAndReceive(world);
      const [event] = await take(world);
      await settleWebhook(world, event!, DELIVERED);
      const later = world.clock.now + 2 * DAY;
      while ((await world.store.retention.pruneMessages({ before: later, atLatest: later, limit: 10 })) > 0);
      expect(await states(world, id)).toEqual([]);
      expect(await world.store.outbox.attempts({ messageId: id, sequence: 1 })).toBeUndefined();
      expect(await take(world)).toEqual([]);
      expect(await world.inside.countRows(id)).toBe(0);
    }),
  );
}
