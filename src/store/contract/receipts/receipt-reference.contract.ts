/** Parts that nobody answered for, which are found by the reference they carried. */
import { expect, test } from "bun:test";
import { partReference } from "../../../core/receipts/short-reference.ts";
import { CONNECTOR, HOUR, inWorld, type OpenStore, SECOND, sent, unconfirmed } from "../world.contract.ts";
import { sendWithId } from "./receipt-match.contract.ts";

const ONE = "+919812345678";
const OTHER = "+919898989898";

const held = (now: number) => ({ kind: "held", dueAt: now + 60 * SECOND }) as const;

export function receiptReferenceContract(open: OpenStore): void {
  test(
    "a part that nobody answered for is found by its reference, where number and connector agree",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, receive, status, clock, claim } = world;
      const [id = ""] = await sms({ to: [ONE] });
      await settle(await claimOne(), { outcomes: [unconfirmed()], next: held(clock.now) });
      const reference = partReference(id, 0);
      const parked = [{ kind: "parked" }] as const;
      expect(await receive("x-1", { reference, recipient: OTHER })).toEqual([...parked]);
      expect(await receive("x-2", { reference })).toEqual([...parked]);
      expect(await receive("x-3", { reference: reference ^ 1, recipient: ONE })).toEqual([...parked]);
      const elsewhere = { reference, recipient: ONE, connectorId: "connector-b" };
      expect(await receive("x-4", elsewhere)).toEqual([...parked]);
      expect(await status(id)).toBe("sending");

      expect(await receive("x-5", { reference, recipient: ONE })).toMatchObject([{ kind: "applied" }]);
      expect(await status(id)).toBe("delivered");
      expect(await receive("x-5")).toMatchObject([{ kind: "late", messageId: id }]);
      clock.now += 120 * SECOND;
      await world.store.queue.stage(clock.now, 10);
      expect(await claim()).toEqual([]);
    }),
  );

  test(
    "where another connector has sent it since, the first's failure decides nothing, but that of the later copy over the first does",
    inWorld(open, async ({ sms, claimOne, settle, receive, status, clock, store }) => {
      const [id = ""] = await sms({ to: [ONE] });
      const again = { kind: "again", dueAt: clock.now } as const;
      await settle(await claimOne(), { outcomes: [unconfirmed()], next: again });
      await store.queue.stage(clock.now, 10);
      await settle(await claimOne(), { connectorId: "connector-b", outcomes: [sent("b-1")] });
      const lost = { reference: partReference(id, 0), recipient: ONE, status: "undelivered" } as const;
      expect(await receive("a-1", lost)).toEqual([{ kind: "late", messageId: id }]);
      expect(await status(id)).toBe("sent");
      expect(await receive("B-1", lost)).toEqual([{ kind: "applied", messageId: id }]);
      expect(await status(id)).toBe("undelivered");
    }),
  );

  test(
    "a word that is not final proves by its reference that the part was sent, and is not sent again",
    inWorld(open, async ({ sms, claimOne, settle, receive, status, history, clock, claim, store }) => {
      const [id = ""] = await sms({ to: [ONE] });
      await settle(await claimOne(), {
        outcomes: [unconfirmed()],
        next: { kind: "again", dueAt: clock.now + SECOND },
      });
      await receive("x-1", { reference: partReference(id, 0), recipient: ONE, status: "sent" });
      expect(await status(id)).toBe("sent");
      await store.queue.stage(clock.now + SECOND, 10);
      expect(await claim()).toEqual([]);
      await receive("x-1");
      expect(await history(id)).toEqual(["attempt:queued", "late_answer:sent", "receipt:delivered"]);
    }),
  );

  test(
    "from such a word on the receipt is awaited, and is overdue where none comes",
    inWorld(open, async ({ sms, claim, settle, receive, history, clock, store }) => {
      const ids = await sms({ to: [ONE, OTHER] });
      for (const job of await claim())
        await settle(job, { outcomes: [unconfirmed()], next: held(clock.now) });
      clock.now += HOUR;
      for (const [index, recipient] of [ONE, OTHER].entries())
        await receive(`x-${index}`, { reference: partReference(ids[index]!, 0), recipient, status: "sent" });
      await receive("x-1");
      const flag = (now: number) => store.receipts.flagOverdue({ now, sentBefore: now - HOUR, limit: 10 });
      expect(await flag(clock.now + HOUR - 1)).toBe(0);
      expect(await flag(clock.now + HOUR)).toBe(1);
      expect((await history(ids[0]!)).at(-1)).toBe("receipt_overdue:sent");
      expect((await history(ids[1]!)).at(-1)).toBe("receipt:delivered");
    }),
  );

  test(
    "a receipt with a reference that comes before the attempt is given up is applied when it is",
    inWorld(open, async ({ sms, claimOne, settle, receive, status, clock, store, claim }) => {
      const [id = ""] = await sms({ to: [ONE] });
      const job = await claimOne();
      for (const part of [0, 1])
        await receive(`x-${part}`, { reference: partReference(id, part), recipient: ONE });
      const elsewhere = { connectorId: "connector-b", reference: partReference(id, 0), recipient: ONE };
      await receive("x-2", elsewhere);
      await settle(job, {
        outcomes: [unconfirmed(), unconfirmed()],
        next: { kind: "again", dueAt: clock.now + SECOND },
      });
      expect(await status(id)).toBe("delivered");
      expect(await store.receipts.countParked()).toBe(1);
      await store.queue.stage(clock.now + SECOND, 10);
      expect(await claim()).toEqual([]);
    }),
  );

  test(
    "one that had come before the message was accepted is about another with its reference",
    inWorld(open, async ({ sms, claimOne, settle, receive, status, clock, store }) => {
      const [id = ""] = await sms({ to: [ONE] });
      const told = { reference: partReference(id, 0), recipient: ONE };
      await receive("x-0", { ...told, receivedAt: clock.now - HOUR });
      await settle(await claimOne(), { outcomes: [unconfirmed()], next: held(clock.now) });
      expect([await status(id), await store.receipts.countParked()]).toEqual(["sending", 1]);
      await receive("x-1", told);
      expect([await status(id), await store.receipts.countParked()]).toEqual(["delivered", 1]);
    }),
  );

  test(
    "one that came before the attempt is given up is not taken for a later message that was given its id",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, receive, status, clock } = world;
      const [id = ""] = await sms({ to: [ONE] });
      const job = await claimOne();
      await receive("same", { reference: partReference(id, 0), recipient: ONE });
      clock.now += HOUR;
      const later = await sendWithId(world, "same");
      await settle(job, { outcomes: [unconfirmed()], next: held(clock.now) });
      expect([await status(id), await status(later)]).toEqual(["delivered", "sent"]);
    }),
  );

  test(
    "where it is about one of two segments, the message waits for its retry",
    inWorld(open, async ({ sms, claimOne, settle, receive, status, history, clock }) => {
      const [id = ""] = await sms({ to: [ONE] });
      const job = await claimOne();
      await receive("x-0", { reference: partReference(id, 0), recipient: ONE });
      await settle(job, {
        outcomes: [unconfirmed(), unconfirmed()],
        next: { kind: "again", dueAt: clock.now + SECOND },
      });
      expect(await status(id)).toBe("queued");
      expect(await history(id)).toEqual(["attempt:queued", "late_answer:queued", "receipt:queued"]);
    }),
  );

  test(
    "where the message has failed already, its entry tells of that segment only, not of the message's size",
    inWorld(open, async ({ store, sms, claimOne, settle, receive, status, clock }) => {
      const [id = ""] = await sms({ to: [ONE] });
      await settle(await claimOne(), {
        outcomes: [unconfirmed(), sent("p-1")],
        detail: { segments: 2, encoding: "gsm7" },
        next: { kind: "again", dueAt: clock.now + SECOND },
      });
      await receive("p-1", { status: "failed" });
      await receive("x-0", { reference: partReference(id, 0), recipient: ONE });
      expect(await status(id)).toBe("failed");
      const told = (await store.messages.timeline({ id }))?.find(({ kind }) => kind === "late_answer");
      expect(told?.detail).toEqual({ connector: CONNECTOR, part: 0, provider_message_ids: ["x-0"] });
    }),
  );

  test(
    "a part of which nobody knows the connector, for the process died, is found by its reference too",
    inWorld(open, async ({ store, sms, claimOne, receive, status, clock }) => {
      for (const isFirst of [false, true]) {
        const [id = ""] = await sms({ to: [ONE] });
        const { jobId, claim, messageId } = await claimOne();
        const hear = () =>
          receive(`x-${id}`, { connectorId: CONNECTOR, reference: partReference(id, 0), recipient: ONE });
        if (isFirst) await hear();
        await store.queue.settle([
          {
            jobId,
            claim,
            messageId,
            at: clock.now,
            countsAsAttempt: false,
            keepsContent: false,
            outcomes: [unconfirmed()],
            next: held(clock.now),
          },
        ]);
        if (!isFirst) await hear();
        expect(await status(id)).toBe("delivered");
      }
    }),
  );
}
