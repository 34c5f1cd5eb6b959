/** Receipts that give two ids of which one is right: the TLV and the text of an SMSC may differ. */
import { expect, test } from "bun:test";
import { partReference } from "../../../core/receipts/short-reference.ts";
import {
  CONNECTOR,
  inWorld,
  type OpenStore,
  SECOND,
  sent,
  unconfirmed,
  type World,
} from "../world.contract.ts";
import { sendWithId } from "./receipt-match.contract.ts";

const ONE = "+919812345678";
const OTHER = "+919898989898";

export function receiptOtherIdContract(open: OpenStore): void {
  test(
    "of two ids the second counts where the number agrees, and the first is that of no message to it",
    inWorld(open, async (world) => {
      const { receive, status, store } = world;
      const id = await sendWithId(world, "right");
      const other = await sendWithId(world, "elsewhere", OTHER);
      const otherId = "right";
      expect(await receive("unknown", { otherId })).toEqual([{ kind: "parked" }]);
      expect(await receive("unknown", { otherId, recipient: OTHER })).toEqual([{ kind: "parked" }]);
      expect(await status(id)).toBe("sent");
      const found = { kind: "applied", messageId: id };
      expect(await receive("elsewhere", { otherId, recipient: ONE })).toMatchObject([found]);
      expect([await status(id), await status(other)]).toEqual(["delivered", "sent"]);
      const timeline = await store.messages.timeline({ accountId: world.account.id, channel: "sms", id });
      expect(timeline?.[1]?.detail).toMatchObject({ matched_by: "other_id" });
      await sendWithId(world, "first");
      const first = { recipient: ONE, otherId };
      expect(await receive("first", first)).toMatchObject([{ kind: "applied" }]);
    }),
  );

  for (const [told, otherId] of [
    ["unknown", "right"],
    ["right", "unknown"],
    ["unknown", "00Right"],
    ["0right", "RIGHT"],
  ] as const) {
    test(
      `of two ids, ${told} and ${otherId}, told before the answer came, the right one is found with it`,
      inWorld(open, async (world) => {
        const { sms, claimOne, settle, receive, status, history, store } = world;
        const [id = ""] = await sms({ to: [ONE] });
        const job = await claimOne();
        await receive(told, { otherId, recipient: ONE });
        await receive(told, { otherId, recipient: ONE });
        for (const query of [{ limit: 10 }, { connectorId: CONNECTOR, limit: 10 }])
          expect(await store.receipts.parked(query)).toHaveLength(2);
        expect(await store.receipts.countParked()).toBe(2);
        await settle(job, { outcomes: [sent("right")] });
        expect(await status(id)).toBe("delivered");
        expect(await history(id)).toEqual(["attempt:sent", "receipt:delivered", "late_receipt:delivered"]);
        await expectNoneParked(world, told, otherId);
      }),
    );
  }

  test(
    "a second id that was told before the answer came is found with it in whichever base, if the answer gives both",
    inWorld(open, async ({ sms, claimOne, settle, receive, status }) => {
      for (const [otherId, ...ids] of [
        ["1F", "1F", "31"],
        ["47", "2F", "47"],
      ] as const) {
        const [id = ""] = await sms({ to: [ONE] });
        const job = await claimOne();
        await receive("unknown", { otherId, recipient: ONE });
        await settle(job, { outcomes: [sent(...ids)] });
        expect(await status(id)).toBe("delivered");
      }
    }),
  );

  test(
    "a second id that was told before its answer came proves nothing without its number, and in another base",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, receive, status, store } = world;
      const [id = ""] = await sms({ to: [ONE] });
      const job = await claimOne();
      await receive("unknown", { otherId: "255" });
      await receive("unknown", { otherId: "255", recipient: OTHER });
      await receive("unknown", { otherId: "FF", recipient: ONE });
      const before = await store.receipts.parked({ limit: 10 });
      await settle(job, { outcomes: [sent("255")] });
      expect(await status(id)).toBe("sent");
      expect(await store.receipts.parked({ limit: 10 })).toEqual(before);
    }),
  );

  test(
    "a receipt with two ids that is found by its reference is parked no more",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, receive, status, clock, store } = world;
      const [id = ""] = await sms({ to: [ONE] });
      const job = await claimOne();
      await receive("x-1", { otherId: "x-2", recipient: ONE, reference: partReference(id, 0) });
      expect(await store.receipts.countParked()).toBe(1);
      await settle(job, { outcomes: [unconfirmed()], next: { kind: "held", dueAt: clock.now + SECOND } });
      expect(await status(id)).toBe("delivered");
      await expectNoneParked(world, "x-1", "x-2");
    }),
  );

  test(
    "of two ids the second counts among the messages of other connectors too, and takes no other receipt with it",
    inWorld(open, async (world) => {
      const { receive, status, store } = world;
      const id = await sendWithId(world, "right");
      const elsewhere = { connectorId: "connector-b", recipient: ONE };
      await receive("constant", { ...elsewhere, otherId: "another", status: "failed" });
      await receive("constant", { ...elsewhere, otherId: "right" });
      for (const { receipt } of await store.receipts.parked({ limit: 10 }))
        await store.receipts.record([{ ...receipt, alsoOf: [CONNECTOR] }]);
      expect(await status(id)).toBe("delivered");
      const left = await store.receipts.parked({ limit: 10 });
      expect(left.map(({ receipt }) => receipt.otherId)).toEqual(["another"]);
    }),
  );

  test(
    "a receipt that is about a message of another connector takes what is parked under another base of its id with it",
    inWorld(open, async (world) => {
      const { receive, history, store } = world;
      const id = await sendWithId(world, "16");
      const elsewhere = { connectorId: "connector-b", recipient: ONE };
      await receive("10", elsewhere);
      await receive("16", elsewhere);
      const [, second] = await store.receipts.parked({ limit: 10 });
      if (second) await store.receipts.record([{ ...second.receipt, alsoOf: [CONNECTOR] }]);
      expect(await history(id)).toEqual(["attempt:sent", "receipt:delivered", "late_receipt:delivered"]);
      expect(await store.receipts.countParked()).toBe(0);
    }),
  );

  test(
    "of several messages to the number that have the other id, the newest is meant",
    inWorld(open, async (world) => {
      const older = await sendWithId(world, "other");
      const newer = await sendWithId(world, "other");
      await world.receive("constant", { otherId: "other", recipient: ONE });
      expect([await world.status(older), await world.status(newer)]).toEqual(["sent", "delivered"]);
    }),
  );

  test(
    "what is parked again after others of its id were applied keeps its place in the list",
    inWorld(open, async (world) => {
      const { receive, status, history, store } = world;
      const id = await sendWithId(world, "same");
      const connectorId = "connector-b";
      await receive("same", { connectorId, recipient: ONE });
      await receive("same", { connectorId, recipient: OTHER, otherId: "second" });
      // Without a number an id of another connector proves nothing.
      await receive("same", { connectorId, status: "failed" });
      await receive("later", { connectorId });
      const [first, ...others] = await store.receipts.parked({ limit: 10 });
      if (first) await store.receipts.record([{ ...first.receipt, alsoOf: [CONNECTOR] }]);
      expect(await status(id)).toBe("delivered");
      expect(await history(id)).toEqual(["attempt:sent", "receipt:delivered"]);
      expect(await store.receipts.parked({ limit: 10 })).toEqual(others);
      expect(await store.receipts.countParked()).toBe(3);
    }),
  );
}

/** Also what no list shows is gone: later messages to the number that have one of the ids are delivered by nothing. */
async function expectNoneParked(world: World, ...ids: readonly string[]): Promise<void> {
  expect(await world.store.receipts.countParked()).toBe(0);
  for (const id of ids) expect(await world.status(await sendWithId(world, id))).toBe("sent");
}
