/** Which message a receipt is about, where its id alone does not say it plainly. */
import { expect, test } from "bun:test";
import { CONNECTOR, HOUR, inWorld, type OpenStore, SECOND, sent, type World } from "../world.contract.ts";

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
    "an id that was given out again means the newest message, however many have had it",
    inWorld(open, async ({ sms, claim, settle, receive, status }) => {
      const ids = await sms({ to: Array.from({ length: 40 }, (_, at) => `+9198123456${at + 10}`) });
      for (const job of await claim(40)) await settle(job, { outcomes: [sent("same")] });
      const newest = ids.toSorted().at(-1) ?? "";
      expect(await receive("same")).toEqual([{ kind: "applied", messageId: newest }]);
      expect(await status(newest)).toBe("delivered");
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
    "a receipt that waits for a message of another connector is about none that was accepted only after it had come",
    inWorld(open, async (world) => {
      const { receive, status, store, clock } = world;
      await receive("same", { connectorId: "connector-b", recipient: ONE });
      const shared = async () => {
        const [parked] = await store.receipts.parked({ limit: 1 });
        return store.receipts.record([{ ...parked!.receipt, alsoOf: [CONNECTOR] }]);
      };
      const older = await sendWithId(world, "other");
      clock.now += HOUR;
      const newer = await sendWithId(world, "same");
      expect(await shared()).toEqual([{ kind: "parked" }]);
      expect([await status(older), await status(newer)]).toEqual(["sent", "sent"]);
      await store.receipts.recordLateAnswer(
        { messageId: older, part: 0, parts: 1, connectorId: CONNECTOR, providerMessageIds: ["same"] },
        clock.now,
      );
      expect(await shared()).toEqual([{ kind: "applied", messageId: older }]);
      expect([await status(older), await status(newer)]).toEqual(["delivered", "sent"]);
    }),
  );

  test(
    "a receipt finds its message where the clock was set back between the two, also over another connector",
    inWorld(open, async (world) => {
      const { receive, status, store, clock } = world;
      const told = await sendWithId(world, "direct");
      const message = await sendWithId(world, "same");
      clock.now -= HOUR;
      expect(await receive("direct")).toEqual([{ kind: "applied", messageId: told }]);
      await receive("same", { connectorId: "connector-b", recipient: ONE });
      const [parked] = await store.receipts.parked({ limit: 1 });
      const shared = { ...parked!.receipt, alsoOf: [CONNECTOR], isRecent: true } as const;
      expect(await store.receipts.record([shared])).toEqual([{ kind: "applied", messageId: message }]);
      expect(await status(message)).toBe("delivered");
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
    "where two messages to the number had the id that it is another form of, the one that is open is meant, else the newest",
    inWorld(open, async (world) => {
      const older = await sendWithId(world, "A1B2C3D4");
      const newer = await sendWithId(world, "A1B2C3D4");
      await world.receive("A1B2C3D4");
      expect([await world.status(older), await world.status(newer)]).toEqual(["sent", "delivered"]);
      const told = () => world.receive("2712847316", { recipient: ONE });
      expect(await told()).toEqual([{ kind: "applied", messageId: older }]);
      expect(await told()).toEqual([{ kind: "late", messageId: newer }]);
    }),
  );

  test(
    "where messages of two other connectors to the number have the id, the newest that is open is meant",
    inWorld(open, async (world) => {
      const over = { connectorId: "connector-b", recipient: ONE } as const;
      for (const alsoOf of [
        [CONNECTOR, "connector-c"],
        ["connector-c", CONNECTOR],
      ]) {
        const messages: string[] = [];
        for (const connectorId of [CONNECTOR, "connector-c"]) {
          world.clock.now += SECOND;
          messages.push(...(await world.sms({ to: [ONE] })));
          await world.settle(await world.claimOne(), { connectorId, outcomes: [sent("same")] });
        }
        const [older = "", newer = ""] = messages;
        for (const messageId of [newer, older]) {
          await world.receive("same", over);
          expect(await world.receive("same", { ...over, alsoOf })).toEqual([{ kind: "applied", messageId }]);
        }
      }
    }),
  );

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
}
