/** Parts whose receipt does not come. */
import { expect, test } from "bun:test";
import type { PartOutcome } from "../../../core/messages/outcome.ts";
import {
  CONNECTOR,
  DAY,
  inWorld,
  type OpenStore,
  SECOND,
  sent,
  unconfirmed,
  type World,
} from "../world.contract.ts";

const MINUTE = 60 * SECOND;
const WAITS_MS = [5 * MINUTE, 15 * MINUTE, 60 * MINUTE];

async function sentSms(world: World, ids: readonly string[]): Promise<string> {
  const [id = ""] = await world.sms();
  await world.settle(await world.claimOne(), { outcomes: ids.map((each) => sent(each)) });
  return id;
}

function flag({ store, clock }: World, limit = 100): Promise<number> {
  return store.receipts.flagOverdue({ now: clock.now, sentBefore: clock.now - 60 * MINUTE, limit });
}

function ask({ store, clock }: World, over: { connectorId?: string; limit?: number } = {}) {
  const request = { connectorId: CONNECTOR, now: clock.now, limit: 10, waitsMs: WAITS_MS };
  return store.receipts.takeQuestions({ ...request, ...over });
}

export function overdueContract(open: OpenStore): void {
  test(
    "a message without a receipt is flagged once its time has come, once, and stays sent",
    inWorld(open, async (world) => {
      const id = await sentSms(world, ["a", "b"]);
      world.clock.now += 60 * MINUTE - 1;
      expect(await flag(world)).toBe(0);
      world.clock.now += 1;
      expect(await flag(world)).toBe(2);
      expect(await flag(world)).toBe(0);
      expect(await world.history(id)).toEqual(["attempt:sent", "receipt_overdue:sent"]);
      expect((await world.message(id)).progress).toMatchObject({ status: "sent", sequence: 1 });
      expect(await world.store.receipts.countOverdue()).toEqual([{ connectorId: CONNECTOR, parts: 2 }]);
    }),
  );

  test(
    "one whose provider gave it no id is flagged as well, and there is nothing to ask",
    inWorld(open, async (world) => {
      const ids = await world.sms({ to: ["+911", "+912"] });
      const jobs = await world.claim();
      await Promise.all(jobs.map((job) => world.settle(job, { outcomes: [sent()] })));
      world.clock.now += 60 * MINUTE;
      expect(await flag(world)).toBe(2);
      for (const id of ids) expect(await world.history(id)).toEqual(["attempt:sent", "receipt_overdue:sent"]);
      expect(await world.store.receipts.countOverdue()).toEqual([{ connectorId: CONNECTOR, parts: 2 }]);
      expect(await ask(world, { limit: 1 })).toEqual([]);
      expect(await ask(world)).toEqual([]);
      expect(await world.store.receipts.countOverdue()).toEqual([]);
    }),
  );

  test(
    "where nothing is left to ask about one, others are asked about and counted all the same",
    inWorld(open, async (world) => {
      for (const outcome of [sent(), sent("a")]) {
        await world.sms();
        await world.settle(await world.claimOne(), { outcomes: [outcome] });
      }
      world.clock.now += 60 * MINUTE;
      expect(await flag(world)).toBe(2);
      expect(await ask(world)).toHaveLength(1);
      expect(await world.store.receipts.countOverdue()).toEqual([{ connectorId: CONNECTOR, parts: 1 }]);
      world.clock.now += 5 * MINUTE;
      expect(await ask(world)).toHaveLength(1);
    }),
  );

  test(
    "a receipt ends it for its segment, and for no other of the message or of another",
    inWorld(open, async (world) => {
      await sentSms(world, ["a", "b", "c"]);
      const other = await sentSms(world, ["d"]);
      await world.sms();
      const outcomes = [sent("e")];
      await world.settle(await world.claimOne(), { connectorId: "connector-b", outcomes });
      await world.receive("b");
      world.clock.now += 60 * MINUTE;
      expect(await flag(world)).toBe(4);
      expect(await world.history(other)).toEqual(["attempt:sent", "receipt_overdue:sent"]);
      await world.receive("a");
      expect(await world.store.receipts.countOverdue()).toEqual([
        { connectorId: CONNECTOR, parts: 2 },
        { connectorId: "connector-b", parts: 1 },
      ]);
    }),
  );

  test(
    "a receipt that an earlier copy was not delivered does not end it for the copy that another connector has sent since",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms();
      const lost = { ...unconfirmed(), providerMessageIds: ["a"] } as PartOutcome;
      const next = { kind: "again", dueAt: world.clock.now } as const;
      await world.settle(await world.claimOne(), { outcomes: [lost], next });
      await world.store.queue.stage(world.clock.now, 10);
      await world.settle(await world.claimOne(), { connectorId: "connector-b", outcomes: [sent("b")] });
      await world.receive("a", { status: "undelivered" });
      expect(await world.status(id)).toBe("sent");
      world.clock.now += 60 * MINUTE;
      await flag(world);
      expect((await world.history(id)).at(-1)).toBe("receipt_overdue:sent");
      await world.receive("a");
      expect(await world.status(id)).toBe("delivered");
      expect(await world.store.receipts.countOverdue()).toEqual([]);
    }),
  );

  test(
    "a receipt ends it, before the flag and after",
    inWorld(open, async (world) => {
      const prompt = await sentSms(world, ["a"]);
      const slow = await sentSms(world, ["b"]);
      await world.receive("a");
      world.clock.now += 60 * MINUTE;
      expect(await flag(world)).toBe(1);
      expect(await world.history(prompt)).toEqual(["attempt:sent", "receipt:delivered"]);
      await world.receive("b");
      expect(await world.status(slow)).toBe("delivered");
      expect(await world.store.receipts.countOverdue()).toEqual([]);
      expect(await ask(world)).toEqual([]);
    }),
  );

  test(
    "a receipt ends it for all ids of its part, also where another came by a late answer",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      for (const isTogether of [false, true]) {
        const id = await sentSms(world, [`a-${isTogether}`]);
        clock.now += 60 * MINUTE;
        expect(await flag(world)).toBe(1);
        const late = { messageId: id, part: 0, parts: 1, connectorId: "the other" };
        const answer = store.receipts.recordLateAnswer({ ...late, providerMessageIds: ["b"] }, clock.now);
        if (!isTogether) await answer;
        await Promise.all([answer, world.receive(`a-${isTogether}`)]);
        expect(await world.status(id)).toBe("delivered");
        expect(await store.receipts.countOverdue()).toEqual([]);
        clock.now += 60 * MINUTE;
        await flag(world);
        expect(await store.receipts.countOverdue()).toEqual([]);
      }
    }),
  );

  test(
    "a receipt that is not final ends nothing, and one that was parked ends it with the settlement",
    inWorld(open, async (world) => {
      await sentSms(world, ["a"]);
      await world.receive("a", { status: "sent" });
      await world.receive("b");
      await sentSms(world, ["b"]);
      world.clock.now += 60 * MINUTE;
      expect(await flag(world)).toBe(1);
    }),
  );

  test(
    "of a message that is delivered no other id is waited for, whenever that became known",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      const [id = ""] = await world.sms();
      const lost = await world.claimOne();
      await store.queue.stage(clock.now + 60 * SECOND, 10);
      await world.settle(await world.claimOne(), { outcomes: [sent("b")] });
      await world.receive("b");
      expect(await world.settle(lost, { outcomes: [sent("a")] })).toBe(false);
      clock.now += 60 * MINUTE;
      await flag(world);
      expect((await world.history(id)).at(-1)).toBe("lost_settle:delivered");
      expect(await store.receipts.countOverdue()).toEqual([]);
    }),
  );

  test(
    "what is to get no receipt is never missed: told so by the connector, or an email",
    inWorld(open, async (world) => {
      await world.sms();
      const silent = { kind: "sent", providerMessageIds: ["a"], expectsReceipt: false } as const;
      await world.settle(await world.claimOne(), { outcomes: [silent] });
      await world.email({
        parts: [{ status: "pending", address: "a@a.test" }],
        jobs: [{ queue: "queue-a" }],
      });
      await world.settle(await world.claimOne(), { outcomes: [sent("b")] });
      world.clock.now += DAY;
      expect(await flag(world)).toBe(0);
    }),
  );

  test(
    "flagging is done in bounded pieces",
    inWorld(open, async (world) => {
      await sentSms(world, ["a"]);
      await sentSms(world, ["b"]);
      world.clock.now += 60 * MINUTE;
      expect([await flag(world, 1), await flag(world, 1), await flag(world, 1)]).toEqual([1, 1, 0]);
    }),
  );

  test(
    "an overdue part is asked about by the id the provider wrote, and again after ever longer waits",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms();
      await world.settle(await world.claimOne(), { outcomes: [sent("0a", "A")] });
      world.clock.now += 60 * MINUTE;
      expect(await ask(world)).toEqual([]);
      await flag(world);
      const question = { messageId: id, part: 0, providerMessageId: "0a", from: "ACME" };
      expect(await ask(world, { connectorId: "connector-b" })).toEqual([]);
      expect(await ask(world)).toEqual([question]);
      expect(await ask(world)).toEqual([]);
      for (const wait of [5, 15, 60, 60]) {
        world.clock.now += wait * MINUTE - 1;
        expect(await ask(world)).toEqual([]);
        world.clock.now += 1;
        expect(await ask(world)).toEqual([question]);
      }
      await world.receive("A");
      world.clock.now += DAY;
      expect(await ask(world)).toEqual([]);
    }),
  );

  test(
    "so many are asked about at once, the longest overdue first",
    inWorld(open, async (world) => {
      for (const ids of [["a", "b"], ["c"], ["d"]]) {
        await sentSms(world, ids);
        world.clock.now += 60 * MINUTE;
        await flag(world);
      }
      const next = async (limit: number) =>
        (await ask(world, { limit })).map(({ providerMessageId }) => providerMessageId);
      expect([...(await next(1)), ...(await next(1))].sort()).toEqual(["a", "b"]);
      expect([await next(1), await next(2), await next(2)]).toEqual([["c"], ["d"], []]);
    }),
  );

  test(
    "all that is kept of an overdue or unconfirmed message goes with it",
    inWorld(open, async (world) => {
      const id = await sentSms(world, ["a"]);
      world.clock.now += 60 * MINUTE;
      await flag(world);
      await world.receive("a");
      const bounds = { before: world.clock.now + 2 * DAY, atLatest: 0, limit: 10 };
      while ((await world.store.retention.pruneMessages(bounds)) > 0);
      expect(await world.inside.countRows(id)).toBe(0);
    }),
  );
}
