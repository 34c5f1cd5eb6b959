/** Which message a receipt is about, where its id alone does not say it plainly. */
import { expect, test } from "bun:test";
import { partReference } from "../../core/receipts/short-reference.ts";
import {
  CONNECTOR,
  HOUR,
  inWorld,
  type OpenStore,
  SECOND,
  sent,
  unconfirmed,
  type World,
} from "./world.contract.ts";

const ONE = "+919812345678";
const OTHER = "+919898989898";

/** Sends an SMS that its provider gives the id. */
export async function sendWithId(world: World, id: string, to = ONE): Promise<string> {
  world.clock.now += SECOND;
  const [message = ""] = await world.sms({ to: [to] });
  await world.settle(await world.claimOne(), { outcomes: [sent(id)] });
  return message;
}

export function receiptMatchContract(open: OpenStore): void {
  test(
    "an id that was given out again means the newest message that is open",
    inWorld(open, async (world) => {
      const older = await sendWithId(world, "same");
      const newer = await sendWithId(world, "same");
      await world.receive("same");
      expect([await world.status(older), await world.status(newer)]).toEqual(["sent", "delivered"]);
      await world.receive("same", { status: "undelivered" });
      expect([await world.status(older), await world.status(newer)]).toEqual(["undelivered", "delivered"]);
      expect(await world.receive("same")).toMatchObject([{ kind: "late", messageId: newer }]);
    }),
  );

  test(
    "a receipt that came before a message was accepted is about the earlier one with its id, also where that one's id is recorded last",
    inWorld(open, async (world) => {
      const [older = ""] = await world.sms({ to: [ONE] });
      const job = await world.claimOne();
      await world.receive("same");
      world.clock.now += HOUR;
      const newer = await sendWithId(world, "same");
      expect(await world.status(newer)).toBe("sent");
      await world.settle(job, { outcomes: [sent("same")] });
      expect([await world.status(older), await world.status(newer)]).toEqual(["delivered", "sent"]);
    }),
  );

  test(
    "of several open messages with one id it means the one that goes to its number",
    inWorld(open, async (world) => {
      const older = await sendWithId(world, "same", ONE);
      const newer = await sendWithId(world, "same", OTHER);
      await world.receive("same", { recipient: "9812345678" });
      expect([await world.status(older), await world.status(newer)]).toEqual(["delivered", "sent"]);
      // A second word about the older one is not one about the newer.
      expect(await world.receive("same", { recipient: ONE })).toMatchObject([
        { kind: "late", messageId: older },
      ]);
      expect(await world.status(newer)).toBe("sent");
    }),
  );

  test(
    "what a handset could have written is about a message to that handset, and about no other, whatever id it names",
    inWorld(open, async (world) => {
      const { receive, status, store } = world;
      const id = await sendWithId(world, "p-1", ONE);
      expect(await receive("p-1", { isByText: true, recipient: OTHER })).toEqual([{ kind: "parked" }]);
      expect(await receive("p-1", { isByText: true })).toEqual([{ kind: "parked" }]);
      expect(await status(id)).toBe("sent");
      await receive("p-1", { isByText: true, recipient: ONE });
      expect(await status(id)).toBe("delivered");
      // Nor is it where its id is recorded only later.
      await receive("p-2", { isByText: true, recipient: OTHER });
      expect(await status(await sendWithId(world, "p-2", ONE))).toBe("sent");
      expect(await store.receipts.countParked()).toBe(3);
    }),
  );

  test(
    "a receipt that comes before its answer does not go to an old message that had its id",
    inWorld(open, async (world) => {
      const older = await sendWithId(world, "same", ONE);
      await world.receive("same", { recipient: ONE });
      const [newer = ""] = await world.sms({ to: [OTHER] });
      const job = await world.claimOne();
      expect(await world.receive("same", { recipient: OTHER })).toEqual([{ kind: "parked" }]);
      await world.settle(job, { outcomes: [sent("same")] });
      expect([await world.status(older), await world.status(newer)]).toEqual(["delivered", "delivered"]);
      expect(await world.history(older)).toEqual(["attempt:sent", "receipt:delivered"]);
    }),
  );

  const FORMS = [
    ["A1B2C3D4", "2712847316"],
    ["2712847316", "a1b2c3d4"],
    ["18446744073709551617", "0010000000000000001"],
    ["AbC_9", "abc_9"],
    ["0042", "42"],
  ] as const;
  for (const [answered, told] of FORMS) {
    test(
      `${answered}, told as ${told}, is found where the number agrees, and only there`,
      inWorld(open, async (world) => {
        const { receive, status, store } = world;
        const id = await sendWithId(world, answered);
        expect(await receive(told)).toEqual([{ kind: "parked" }]);
        expect(await receive(told, { recipient: OTHER })).toEqual([{ kind: "parked" }]);
        expect(await receive(told, { recipient: "91XXXXXX5678" })).toEqual([{ kind: "parked" }]);
        expect(await status(id)).toBe("sent");
        expect(await receive(told, { recipient: "919812345678" })).toMatchObject([{ kind: "applied" }]);
        expect(await status(id)).toBe("delivered");
        expect(await receive(told, { recipient: ONE })).toMatchObject([{ kind: "late" }]);
        expect(await store.receipts.countParked()).toBe(3);
        const timeline = await store.messages.timeline({ accountId: world.account.id, channel: "sms", id });
        expect(timeline?.[1]?.detail).toMatchObject({ matched_by: "another_form" });
      }),
    );

    test(
      `${answered}, told as ${told} before the answer came, is applied with it`,
      inWorld(open, async (world) => {
        const { sms, claimOne, settle, receive, status, store } = world;
        const [id = ""] = await sms({ to: [ONE] });
        const job = await claimOne();
        await receive(told, { recipient: OTHER, status: "failed" });
        await receive(told, { recipient: ONE });
        await settle(job, { outcomes: [sent(answered)] });
        expect(await status(id)).toBe("delivered");
        expect(await store.receipts.countParked()).toBe(1);
      }),
    );
  }

  test(
    "the id as it is comes before another form of it",
    inWorld(open, async (world) => {
      const hexadecimal = await sendWithId(world, "10");
      const decimal = await sendWithId(world, "16");
      await world.receive("16", { recipient: ONE });
      expect([await world.status(hexadecimal), await world.status(decimal)]).toEqual(["sent", "delivered"]);
    }),
  );

  test(
    "a number that answers write in one base and receipts in another is not taken for another message's",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, receive, status } = world;
      // 255 is FF to receipts, and 597 is 255.
      const [early = ""] = await sms({ to: [ONE] });
      await settle(await claimOne(), { outcomes: [sent("255", "FF")] });
      expect(await receive("255")).toEqual([{ kind: "parked" }]);
      expect(await status(early)).toBe("sent");
      const [other = ""] = await sms({ to: [OTHER] });
      await settle(await claimOne(), { outcomes: [sent("597", "255")] });
      expect([await status(early), await status(other)]).toEqual(["sent", "delivered"]);
      await receive("255");
      await receive("FF");
      expect(await status(early)).toBe("delivered");
    }),
  );

  test(
    "an id of one connector says nothing about another's",
    inWorld(open, async (world) => {
      const id = await sendWithId(world, "A1");
      const elsewhere = { connectorId: "connector-b", recipient: ONE };
      expect(await world.receive("A1", elsewhere)).toEqual([{ kind: "parked" }]);
      expect(await world.receive("161", elsewhere)).toEqual([{ kind: "parked" }]);
      expect(await world.status(id)).toBe("sent");
    }),
  );
  referenceContract(open);
}

const held = (now: number) => ({ kind: "held", dueAt: now + 60 * SECOND }) as const;

function referenceContract(open: OpenStore): void {
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
            ...{ jobId, claim, messageId, at: clock.now, countsAsAttempt: false, keepsContent: false },
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
