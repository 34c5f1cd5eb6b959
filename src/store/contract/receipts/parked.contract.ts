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

/** Receipts that match nothing are kept, but not without end. */
export function parkedContract(open: OpenStore): void {
  test(
    "parked receipts are listed in the order they came, or its reverse, by connector, page by page, and go after their time",
    inWorld(open, async ({ store, receive, clock }) => {
      for (const id of ["x", "y", "z"]) await receive(id, { recipient: "919812345678", raw: "stat:DELIVRD" });
      await receive("x", { connectorId: "connector-b" });
      const { receipts } = store;
      const all = await receipts.parked({ limit: 10 });
      expect(all.map(({ receipt }) => receipt.providerMessageId)).toEqual(["x", "y", "z", "x"]);
      expect(all[0]?.receipt).toMatchObject({ recipient: "919812345678", raw: "stat:DELIVRD" });
      const after = all[1]!.id;
      expect(await receipts.parked({ after, limit: 1 })).toEqual([all[2]!]);
      expect(await receipts.parked({ connectorId: CONNECTOR, after, limit: 1 })).toEqual([all[2]!]);
      expect(await receipts.parked({ connectorId: CONNECTOR, limit: 1 })).toEqual([all[0]!]);
      expect(await receipts.parked({ connectorId: "connector-b", limit: 10 })).toEqual([all[3]!]);
      const newest = { order: "newest", limit: 2 } as const;
      expect(await receipts.parked(newest)).toEqual([all[3]!, all[2]!]);
      expect(await receipts.parked({ ...newest, after: all[2]!.id })).toEqual([all[1]!, all[0]!]);
      expect(await receipts.parked({ ...newest, after: all[0]!.id })).toEqual([]);
      expect(await receipts.parked({ ...newest, connectorId: CONNECTOR })).toEqual([all[2]!, all[1]!]);
      expect(await receipts.parked({ ...newest, connectorId: CONNECTOR, after })).toEqual([all[0]!]);
      expect(await store.retention.pruneReceived(clock.now, 10)).toBe(0);
      await store.retention.pruneReceived(clock.now + 1, 2);
      expect(await receipts.parked({ limit: 10 })).toEqual(all.slice(2));
    }),
  );

  test(
    "a provider that repeats a receipt of an unknown id does not grow the database without end",
    inWorld(open, async ({ store, receive }) => {
      for (let i = 0; i < 30; i++) await receive("unknown");
      expect(await store.receipts.countParked()).toBeLessThanOrEqual(8);
    }),
  );

  test(
    "of a connector's parked receipts the oldest go where there are more than it may have, and no others'",
    inWorld(open, async (world) => {
      const { store } = world;
      for (const id of ["a1", "a2", "a3", "a4", "a5"]) await world.receive(id);
      for (const id of ["b1", "b2", "b3"]) await world.receive(id, { connectorId: "connector-b" });
      await world.receive("c1", { connectorId: "connector-c" });
      expect(await drop(world)).toEqual([[CONNECTOR, 2]]);
      expect(await drop(world)).toEqual([]);
      expect(await parked(world)).toEqual(["a3", "a4", "a5", "b1", "b2", "b3", "c1"]);
      for (const id of ["a6", "a7", "a8"]) await world.receive(id);
      await world.receive("b4", { connectorId: "connector-b" });
      expect(await drop(world, 2)).toEqual([
        [CONNECTOR, 2],
        ["connector-b", 1],
      ]);
      expect(await drop(world, 2)).toEqual([[CONNECTOR, 1]]);
      expect(await parked(world)).toEqual(["b2", "b3", "c1", "a6", "a7", "a8", "b4"].sort());
      expect(await store.receipts.countParked()).toBe(7);
    }),
  );

  test(
    "their ids rise, also when the last has gone",
    inWorld(open, async (world) => {
      const lastId = async () => Number((await world.store.receipts.parked({ limit: 10 })).at(-1)?.id ?? 0);
      let before = 0;
      for (const isTaken of [false, true, true, false]) {
        const [id = ""] = await world.sms();
        const job = await world.claimOne();
        await world.receive(`p-${id}`);
        const given = await lastId();
        expect(given).toBeGreaterThan(before);
        before = given;
        if (isTaken) await world.settle(job);
      }
    }),
  );

  test(
    "a receipt that is parked under two ids counts twice for the bound, but once among those deleted",
    inWorld(open, async (world) => {
      for (const id of ["a1", "a2", "a3"])
        await world.receive(id, { otherId: `${id}-other`, recipient: "+919812345678" });
      expect(await parked(world)).toEqual(["a1", "a2", "a3"]);
      expect(await drop(world)).toEqual([[CONNECTOR, 2]]);
      expect(await parked(world)).toEqual(["a3"]);
      await world.store.retention.pruneReceived(world.clock.now + 1, 100);
      expect(await world.store.receipts.dropParked({ most: 0, limit: 100 })).toEqual([]);
    }),
  );

  test(
    "receipts that share one of their ids are all listed and counted, and found by the other, and the bound holds for them",
    inWorld(open, async (world) => {
      const { store } = world;
      const [id = ""] = await world.sms();
      const job = await world.claimOne();
      await tellConstant(world, 12);
      expect(await parked(world)).toHaveLength(12);
      expect(await store.receipts.countParked()).toBe(12);
      await world.settle(job, { outcomes: [sent("p-0")] });
      expect(await world.status(id)).toBe("delivered");
      expect(await parked(world)).toHaveLength(11);
      expect(await drop(world)).toEqual([[CONNECTOR, 10]]);
      expect(await drop(world)).toEqual([]);
      const left = await store.receipts.parked({ limit: 100 });
      expect(left.map(({ receipt }) => receipt.otherId)).toEqual(["p-11"]);
      expect(await store.receipts.countParked()).toBe(1);
    }),
  );

  test(
    "a receipt that comes twice is listed and counted twice, also where others share one of its ids",
    inWorld(open, async (world) => {
      await tellConstant(world, 2, () => "same");
      await tellConstant(world, 9);
      expect(await parked(world)).toHaveLength(11);
      expect(await world.store.receipts.countParked()).toBe(11);
    }),
  );

  test(
    "of receipts that share both their ids the newest stay",
    inWorld(open, async (world) => {
      for (let at = 0; at < 12; at++) await tellConstant(world, 1, () => "shared");
      expect(await parked(world)).toHaveLength(8);
      expect(await world.store.receipts.countParked()).toBe(8);
    }),
  );

  test(
    "a receipt that shares one of its ids with newer ones is still found by its reference",
    inWorld(open, async (world) => {
      const { clock } = world;
      const [id = ""] = await world.sms();
      const job = await world.claimOne();
      const reference = partReference(id, 0);
      await world.receive("constant", { otherId: "first", recipient: "+919812345678", reference });
      await tellConstant(world, 8);
      await world.settle(job, {
        outcomes: [unconfirmed()],
        next: { kind: "held", dueAt: clock.now + SECOND },
      });
      expect(await world.status(id)).toBe("delivered");
      expect(await parked(world)).toHaveLength(8);
    }),
  );

  test(
    "what stays is applied as ever",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms();
      const job = await world.claimOne();
      for (const other of ["a", "b", "c"]) await world.receive(other);
      await world.receive(`p-${id}`);
      await drop(world);
      await world.settle(job);
      expect(await world.status(id)).toBe("delivered");
    }),
  );
}

/** At once: those that come together are parked together. */
async function tellConstant(
  { receive }: World,
  count: number,
  otherId = (at: number) => `p-${at}`,
): Promise<void> {
  const recipient = "+919812345678";
  const receipts = Array.from({ length: count }, (_, at) => ({ otherId: otherId(at), recipient }));
  await Promise.all(receipts.map((receipt) => receive("constant", receipt)));
}

async function drop({ store }: World, limit = 100) {
  const dropped = await store.receipts.dropParked({ most: 3, limit });
  return dropped.map(({ connectorId, receipts }) => [connectorId, receipts] as const);
}

async function parked({ store }: World): Promise<readonly string[]> {
  const all = await store.receipts.parked({ limit: 100 });
  return all.map(({ receipt }) => receipt.providerMessageId).sort();
}
