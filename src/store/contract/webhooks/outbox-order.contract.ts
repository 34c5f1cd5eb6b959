/** Which event of the outbox is whose, and who is told. */
import { expect, test } from "bun:test";
import type { ClaimedWebhook, Lane } from "../../../core/webhooks/webhook-outbox.ts";
import { inWorld, type OpenStore, QUEUE, SECOND, sent, type World } from "../world.contract.ts";
import {
  CALLBACK,
  DELIVERED,
  laneOf,
  sendAndReceive,
  settleWebhook,
  states,
  take,
} from "./outbox.contract.ts";

/** Sends one message: its only event. */
async function send(world: World): Promise<string> {
  const [id = ""] = await world.sms({ content: CALLBACK });
  await world.settle(await world.claimOne());
  return id;
}

async function takeOf(world: World, id: string): Promise<ClaimedWebhook> {
  const found = (await take(world)).find(({ messageId }) => messageId === id);
  if (!found) throw new Error("no event of the message is in line");
  return found;
}

export function outboxOrderContract(open: OpenStore): void {
  test(
    "of leases that ran out no more than the limit end at a time, also where others are told to go on",
    inWorld(open, async (world) => {
      for (let count = 0; count < 3; count++) await send(world);
      const ids = (await take(world)).map(({ id }) => id);
      const last = Math.max(...ids);
      const sweeper = { inFlight: [ids[0]!, last + 1, last + 2] };
      const ended: number[] = [];
      for (let round = 0; round < 3; round++)
        ended.push(await world.store.outbox.stage(world.clock.now + 60 * SECOND, 1, sweeper));
      expect(ended).toEqual([1, 1, 0]);
    }),
  );

  test(
    "each event of several batches goes to the URL of its own batch, with its metadata, and once",
    inWorld(open, async (world) => {
      const wanted: string[][] = [];
      for (const order of ["a", "b"]) {
        const content = { callbackUrl: `https://${laneOf(world).host}/${order}`, metadata: { order } };
        for (const id of await world.sms({ to: ["+911", "+912"], content }))
          wanted.push([id, content.callbackUrl, order]);
      }
      for (const job of await world.claim()) await world.settle(job);
      const events = await take(world);
      const told = events.map(({ messageId, url, body }) => [
        messageId,
        url,
        JSON.parse(body).data.metadata.order,
      ]);
      expect(told.toSorted()).toEqual(wanted.toSorted());
    }),
  );

  test(
    "a claim takes the newest of a lane where it says so, beside the oldest of another, and leaves the rest",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      const host = "other.test";
      const ids: string[] = [];
      for (const content of [CALLBACK, { ...CALLBACK, callbackUrl: `https://${host}/` }])
        for (let n = 0; n < 3; n++) ids.push(await sendAndReceive(world, content));
      const newest = { lane: laneOf(world), limit: 1, isNewestFirst: true };
      const lanes = [newest, { lane: laneOf(world, host), limit: 1 }];
      const claimed = await store.outbox.claim({ lanes, now: clock.now, leaseMs: SECOND });
      expect(claimed.map(({ lane, messageId }) => [lane, messageId])).toEqual([
        [laneOf(world), ids[2]!],
        [laneOf(world, host), ids[3]!],
      ]);
      expect((await take(world)).map(({ messageId }) => messageId)).toEqual(ids.slice(0, 2));
    }),
  );

  test(
    "an event that comes once the one before it holds up nobody is in line at once",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      // Another message's event, which holds up only its own.
      await sendAndReceive(world);
      const again = { kind: "again", at: clock.now } as const;
      for (const [verdicts, state] of [
        [[DELIVERED], "delivered"],
        [[{ kind: "ended", reason: "gone" }], "failed"],
        [[again, again], "waiting"],
        [[again], "held"],
      ] as const) {
        const id = await send(world);
        for (const verdict of verdicts) {
          await store.outbox.stage(clock.now, 10);
          await settleWebhook(world, await takeOf(world, id), verdict);
        }
        await world.receive(`p-${id}`);
        expect(await states(world, id)).toEqual(
          state === "held" ? ["1 waiting", "2 held"] : [`1 ${state}`, "2 ready"],
        );
      }
    }),
  );

  test(
    "what is delivered lets the next event of its own message go, and no other's",
    inWorld(open, async (world) => {
      const [one, other] = [await sendAndReceive(world), await sendAndReceive(world)];
      const claimed = await take(world);
      await settleWebhook(world, claimed[1]!, DELIVERED);
      expect(await states(world, one)).toEqual(["1 leased", "2 held"]);
      expect(await states(world, other)).toEqual(["1 delivered", "2 ready"]);
    }),
  );

  test(
    "of several events of a message each waits for the one before it",
    inWorld(open, async (world) => {
      const parts = [{ status: "pending", address: "a@a.test" }] as const;
      const id = await world.email({ parts, jobs: [{ queue: QUEUE }], ...CALLBACK });
      await world.settle(await world.claimOne(), { outcomes: [sent("p")] });
      for (const status of ["delivered", "bounced"] as const) await world.receive("p", { status });
      expect(await states(world, id)).toEqual(["1 ready", "2 held", "3 held"]);
      await settleWebhook(world, await takeOf(world, id), DELIVERED);
      expect(await states(world, id)).toEqual(["1 delivered", "2 ready", "3 held"]);
      await settleWebhook(world, await takeOf(world, id), DELIVERED);
      expect(await states(world, id)).toEqual(["1 delivered", "2 delivered", "3 ready"]);
    }),
  );

  test(
    "an event that was overtaken moves nothing of those that went ahead when it is delivered at last",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      const id = await sendAndReceive(world);
      for (let tries = 0; tries < 2; tries++) {
        await store.outbox.stage(clock.now, 10);
        await settleWebhook(world, await takeOf(world, id), { kind: "again", at: clock.now });
      }
      await settleWebhook(world, await takeOf(world, id), DELIVERED);
      await store.outbox.stage(clock.now, 10);
      await settleWebhook(world, await takeOf(world, id), DELIVERED);
      expect(await states(world, id)).toEqual(["1 delivered", "2 delivered"]);
    }),
  );

  test(
    "who waits is told of every lane that gets an event in line, for whatever reason",
    inWorld(open, async (world) => {
      const { store, clock, account } = world;
      const told: Lane[] = [];
      store.outbox.onReady((lane) => void told.push(lane));
      const toldOf = async (work: Promise<unknown>) => {
        told.length = 0;
        await work;
        return told;
      };
      const lane = [laneOf(world)];
      const messageId = await sendAndReceive(world);
      const settle = async (verdict: Parameters<typeof settleWebhook>[2]) =>
        settleWebhook(world, await takeOf(world, messageId), verdict);
      expect(await toldOf(settle(DELIVERED))).toEqual(lane);
      expect(await toldOf(settle({ kind: "released" }))).toEqual(lane);
      expect(await toldOf(settle({ kind: "again", at: clock.now + SECOND }))).toEqual([]);
      expect(await store.outbox.backlog()).toEqual({ ready: 0, waiting: 1 });
      expect(await toldOf(store.outbox.stage(clock.now + SECOND, 10))).toEqual(lane);
      expect(await toldOf(settle(DELIVERED))).toEqual([]);
      expect(await toldOf(store.outbox.replay({ messageId, sequence: 2 }))).toEqual(lane);
      await settle(DELIVERED);
      expect(await toldOf(store.outbox.replayAll({ accountId: account.id }, { limit: 1 }))).toEqual(lane);
    }),
  );

  test(
    "a delivery counts though its lease has run out, as long as nobody else has claimed the event",
    inWorld(open, async (world) => {
      const id = await sendAndReceive(world);
      const [event] = await take(world);
      expect(await world.store.outbox.stage(world.clock.now + 60 * SECOND, 10)).toBe(1);
      expect(await settleWebhook(world, event!, DELIVERED)).toEqual([true]);
      expect(await states(world, id)).toEqual(["1 delivered", "2 ready"]);
    }),
  );

  test(
    "deliveries are noted with their error, each for its own event",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      const error = { code: "timeout", message: "no answer in time" };
      const messageId = await sendAndReceive(world);
      await settleWebhook(world, await takeOf(world, messageId), DELIVERED);
      const { id, claim } = await takeOf(world, messageId);
      const late = { id, claim: claim + 1, messageId, verdict: DELIVERED };
      for (let count = 0; count < 21; count++)
        await store.outbox.settle([{ ...late, attempt: { at: clock.now, ms: count, error } }]);
      const attempts = await store.outbox.attempts({ messageId, sequence: 2 });
      expect(attempts).toHaveLength(20);
      expect(attempts?.[0]).toEqual({ at: clock.now, ms: 1, error });
      expect(await store.outbox.attempts({ messageId, sequence: 1 })).toHaveLength(1);
      expect((await store.outbox.ofMessage(messageId)).map((each) => each.attempts)).toEqual([1, 21]);
    }),
  );
}
