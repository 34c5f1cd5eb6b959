import { expect, test } from "bun:test";
import type { Part } from "../../../core/messages/message.ts";
import type { PartOutcome } from "../../../core/messages/outcome.ts";
import { partReference } from "../../../core/receipts/short-reference.ts";
import {
  CONNECTOR,
  deferred,
  HOUR,
  inWorld,
  type OpenStore,
  QUEUE,
  SECOND,
  sent,
  unconfirmed,
} from "../world.contract.ts";
import { sendWithId } from "./receipt-match.contract.ts";

export function receiptContract(open: OpenStore): void {
  test(
    "of two messages to one number with one id, the one that is open is meant, also where it is the older one",
    inWorld(open, async (world) => {
      const recipient = "+919812345678";
      const older = await sendWithId(world, "same", recipient);
      const newer = await sendWithId(world, "same", recipient);
      for (const id of [newer, older]) {
        await world.receive("same", { recipient });
        expect(await world.history(id)).toEqual(["attempt:sent", "receipt:delivered"]);
      }
    }),
  );

  test(
    "a receipt after the settlement moves its message",
    inWorld(open, async ({ sms, claimOne, settle, receive, status, history }) => {
      const [id = ""] = await sms();
      await settle(await claimOne());
      expect(await receive(`p-${id}`, { raw: "DELIVRD" })).toEqual([{ kind: "applied", messageId: id }]);
      expect(await status(id)).toBe("delivered");
      expect(await history(id)).toEqual(["attempt:sent", "receipt:delivered"]);
    }),
  );

  test(
    "a receipt before the settlement is parked, and applied by it",
    inWorld(open, async ({ store, sms, claimOne, settle, receive, history }) => {
      const [id = ""] = await sms();
      const job = await claimOne();
      expect(await receive(`p-${id}`)).toEqual([{ kind: "parked" }]);
      expect(await store.receipts.countParked()).toBe(1);
      await settle(job);
      expect(await history(id)).toEqual(["attempt:sent", "receipt:delivered"]);
      expect(await store.receipts.countParked()).toBe(0);
    }),
  );

  test(
    "receipts and settlement of the same moment do not miss each other",
    inWorld(open, async ({ sms, claimOne, settle, receive, status }) => {
      for (const isFirst of [true, false]) {
        const [id = ""] = await sms();
        const job = await claimOne();
        const calls = [() => settle(job), () => receive(`p-${id}`)];
        await Promise.all((isFirst ? calls : calls.reverse()).map((call) => call()));
        expect(await status(id)).toBe("delivered");
      }
    }),
  );

  test(
    "a receipt that came before a message was accepted is about another with its id",
    inWorld(open, async (world) => {
      await world.receive("reused", { receivedAt: world.clock.now });
      world.clock.now += 6 * 60 * SECOND;
      const [id = ""] = await world.sms();
      await world.settle(await world.claimOne(), { outcomes: [sent("reused")] });
      expect(await world.status(id)).toBe("sent");
      expect(await world.store.receipts.countParked()).toBe(1);
      await world.receive("reused", { receivedAt: world.clock.now });
      expect(await world.status(id)).toBe("delivered");
    }),
  );

  test(
    "a receipt that overtakes the answer counts though the clock was set back since the message was accepted",
    inWorld(open, async ({ clock, sms, claimOne, receive, settle, status }) => {
      const [id = ""] = await sms();
      const job = await claimOne();
      clock.now -= 2 * HOUR;
      expect(await receive("p-early", { receivedAt: clock.now })).toMatchObject([{ kind: "parked" }]);
      await settle(job, { outcomes: [sent("p-early")] });
      expect(await status(id)).toBe("delivered");
    }),
  );

  test(
    "several receipts parked under one id are applied in order",
    inWorld(open, async ({ sms, claimOne, settle, receive, status, history }) => {
      const [id = ""] = await sms();
      const job = await claimOne();
      await receive(`p-${id}`, { status: "undelivered" });
      await receive(`p-${id}`, { status: "delivered" });
      await settle(job);
      expect(await status(id)).toBe("undelivered");
      expect(await history(id)).toEqual(["attempt:sent", "receipt:undelivered", "late_receipt:undelivered"]);
    }),
  );

  test(
    "a provider that repeats itself before the settlement does not grow the database without end, and its last word counts",
    inWorld(open, async ({ sms, claimOne, settle, receive, history, status }) => {
      const [id = ""] = await sms();
      const job = await claimOne();
      for (let i = 0; i < 30; i++) await receive(`p-${id}`, { status: "sent" });
      await receive(`p-${id}`);
      await settle(job);
      expect((await history(id)).length).toBeLessThanOrEqual(9);
      expect(await status(id)).toBe("delivered");
    }),
  );

  test(
    "a receipt that comes again is late, and moves nothing",
    inWorld(open, async ({ sms, claimOne, settle, receive, message }) => {
      const [id = ""] = await sms();
      await settle(await claimOne());
      await receive(`p-${id}`);
      expect(await receive(`p-${id}`, { status: "failed" })).toEqual([{ kind: "late", messageId: id }]);
      expect((await message(id)).progress).toMatchObject({ status: "delivered", sequence: 2 });
    }),
  );

  test(
    "each segment has its own id, and the message is delivered when all are",
    inWorld(open, async ({ sms, claimOne, settle, receive, status }) => {
      const [id = ""] = await sms();
      await settle(await claimOne(), { outcomes: [sent("s-1"), sent("s-2")] });
      await receive("s-2");
      expect(await status(id)).toBe("sent");
      await receive("s-1");
      expect(await status(id)).toBe("delivered");
    }),
  );

  test(
    "the receipts of one call are answered one by one, in order",
    inWorld(open, async ({ store, sms, claimOne, settle, clock }) => {
      const [id = ""] = await sms();
      await settle(await claimOne(), { outcomes: [sent("s-1")] });
      const receipt = { connectorId: "connector-a", status: "delivered", receivedAt: clock.now } as const;
      const results = await store.receipts.record([
        { ...receipt, providerMessageId: "unknown" },
        { ...receipt, providerMessageId: "s-1" },
        { ...receipt, providerMessageId: "s-1" },
        { ...receipt, providerMessageId: "s-1", connectorId: "connector-b" },
      ]);
      expect(results.map((result) => result.kind)).toEqual(["parked", "applied", "late", "parked"]);
      expect(results[1]?.messageId).toBe(id);
    }),
  );

  test(
    "an id that the provider gives out again stands for the newer message",
    inWorld(open, async ({ sms, claimOne, settle, receive, status, store, clock }) => {
      const [older = ""] = await sms();
      const slow = await claimOne();
      await settle(slow, { outcomes: [sent("same")] });
      clock.now += SECOND;
      const [newer = ""] = await sms();
      await settle(await claimOne(), { outcomes: [sent("same")] });
      // Words about the older one's lost attempt do not take the id back.
      await store.queue.settle([
        {
          jobId: slow.jobId,
          claim: slow.claim,
          messageId: older,
          at: clock.now,
          connectorId: "connector-a",
          countsAsAttempt: true,
          outcomes: [sent("same")],
          next: { kind: "done" },
          keepsContent: false,
        },
      ]);
      await receive("same");
      expect([await status(older), await status(newer)]).toEqual(["sent", "delivered"]);
    }),
  );

  test(
    "a receipt that was parked is applied once, not again when its id is given out again",
    inWorld(open, async ({ sms, claimOne, settle, receive, status, clock }) => {
      await receive("same");
      await sms();
      await settle(await claimOne(), { outcomes: [sent("same")] });
      clock.now += SECOND;
      const [newer = ""] = await sms();
      await settle(await claimOne(), { outcomes: [sent("same")] });
      expect(await status(newer)).toBe("sent");
    }),
  );

  test(
    "a receipt settles what was unconfirmed and waits to be tried again",
    inWorld(open, async ({ sms, claimOne, settle, receive, status, clock }) => {
      const [id = ""] = await sms();
      await settle(await claimOne(), {
        outcomes: [sent("s-1"), deferred()],
        next: { kind: "again", dueAt: clock.now + SECOND },
      });
      await receive("s-1");
      expect(await status(id)).toBe("queued");
    }),
  );

  test(
    "a receipt that is the first to tell that a message was sent tells its size, as the attempt counted it",
    inWorld(open, async ({ store, account, sms, claimOne, settle, receive, clock }) => {
      const [id = ""] = await sms();
      const job = await claimOne();
      clock.now += 120 * SECOND;
      await store.queue.stage(clock.now, 10);
      await claimOne();
      // The first holder comes home without its lease, and its message is still open.
      const detail = { segments: 1, encoding: "gsm7" };
      expect(await settle(job, { outcomes: [sent("s-1")], detail })).toBe(false);
      await receive("s-1");
      const timeline = await store.messages.timeline({ accountId: account.id, channel: "sms", id });
      expect(timeline?.find(({ eventType }) => eventType === "sms.sent")?.detail).toMatchObject(detail);
    }),
  );

  test(
    "a receipt by an id that was known without an answer tells the message's size, and nothing tells how it was matched",
    inWorld(open, async ({ store, account, sms, claimOne, settle, receive, clock }) => {
      const [id = ""] = await sms();
      const detail = { segments: 1, encoding: "gsm7" };
      const lost = { ...unconfirmed(), providerMessageIds: [id] } as PartOutcome;
      await settle(await claimOne(), { outcomes: [lost], detail, next: { kind: "again", dueAt: clock.now } });
      await receive(id);
      const timeline = await store.messages.timeline({ accountId: account.id, channel: "sms", id });
      const told = timeline?.map(({ eventType, detail: shown }) => [eventType, shown]);
      expect(told?.slice(1)).toEqual([
        ["sms.sent", detail],
        ["sms.delivered", { connector: CONNECTOR, provider_message_id: id, receipt_status: "delivered" }],
      ]);
    }),
  );

  test(
    "a message that its receipt proves sent has the size that its own last attempt counted",
    inWorld(open, async ({ store, sms, claim, settle, receive, clock }) => {
      const short = { segments: 1, encoding: "gsm7" };
      const long = { segments: 2, encoding: "ucs2" };
      const again = { kind: "again", dueAt: clock.now } as const;
      const attempt = { outcomes: [unconfirmed()], next: again };
      const hear = (of: string, recipient: string) =>
        receive(`x-${of}`, { reference: partReference(of, 0), recipient });
      const to = ["+919800000001", "+919800000002"] as const;
      const [id = "", other = "", third = ""] = await sms({ to: [...to, to[1]] });
      const [first, second, last] = await claim();
      for (const job of [first!, last!]) await settle(job, { ...attempt, detail: long });
      await Promise.all([settle(second!, { ...attempt, detail: long }), hear(other, to[1])]);
      for (const detail of [short, undefined]) {
        await store.queue.stage(clock.now, 10);
        const job = (await claim()).find(({ messageId }) => messageId === id);
        if (detail) await settle(job!, { ...attempt, detail });
      }
      // Nobody settles the last one: that it was interrupted tells of no size.
      await store.queue.stage(clock.now + 60 * SECOND, 10);
      await hear(id, to[0]);
      await hear(third, to[1]);
      for (const [each, size] of [
        [id, short],
        [other, long],
        [third, long],
      ] as const) {
        const told = (await store.messages.timeline({ id: each }))?.find(
          ({ kind }) => kind === "late_answer",
        );
        expect(told?.detail).toMatchObject(size);
      }
    }),
  );

  test(
    "a delivered email may still bounce",
    inWorld(open, async ({ email, claimOne, settle, receive, status }) => {
      const parts: Part[] = [{ status: "pending", address: "a@a.test" }];
      const id = await email({ parts, jobs: [{ queue: QUEUE }] });
      await settle(await claimOne(), { outcomes: [sent("q-1")] });
      await receive("q-1");
      expect(await status(id, "email")).toBe("delivered");
      await receive("q-1", { status: "bounced", error: { code: "5.1.1", message: "no such user" } });
      expect(await status(id, "email")).toBe("bounced");
    }),
  );
}
