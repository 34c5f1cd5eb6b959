import { expect, test } from "bun:test";
import { inWorld, type OpenStore, SECOND, type World } from "../world.contract.ts";
import { map, NUMBER, piece } from "./inbound.contract.ts";

const NOBODYS = "+14155550999";

/** Inbound messages of no account are kept, but not without end. */
export function unassignedBoundContract(open: OpenStore): void {
  test(
    "of the inbound messages of no account those that came first go where there are too many, a few at a time",
    inWorld(open, async (world) => {
      await receive(world, "a1", "a2", "b1", "a3", "b2");
      expect(await drop(world, { most: 5 })).toEqual([]);
      expect(await drop(world, { most: 2, limit: 2 })).toEqual([["connector-a", 2]]);
      expect(await drop(world, { most: 2, limit: 2 })).toEqual([["connector-b", 1]]);
      expect(await drop(world, { most: 2, limit: 2 })).toEqual([]);
      expect(await texts(world)).toEqual(["a3", "b2"]);
      expect(await world.store.inbound.countUnassigned()).toBe(2);
      await receive(world, "a4", "b3", "a5", "b4");
      expect(await drop(world, { most: 1 })).toEqual([
        ["connector-a", 3],
        ["connector-b", 2],
      ]);
      expect(await texts(world)).toEqual(["b4"]);
    }),
  );

  test(
    "no account's inbound message goes with them, however old, and none counts among them",
    inWorld(open, async (world) => {
      const { store, account } = world;
      await map(world);
      await receive(world, "nobody's 1");
      await store.inbound.receive([piece(world, { text: "theirs" })]);
      await receive(world, "nobody's 2");
      await store.inbound.receive([piece(world, { text: "theirs too" })]);
      expect(await drop(world, { most: 2 })).toEqual([]);
      expect(await drop(world, { most: 0 })).toEqual([["connector-a", 2]]);
      expect(await drop(world, { most: 0 })).toEqual([]);
      expect(await texts(world, account.id)).toEqual(["theirs", "theirs too"]);
    }),
  );

  test(
    "several who delete at once leave the newest, as many as may stay",
    inWorld(open, async (world) => {
      await receive(world, "1", "2", "3", "4", "5", "6");
      const dropped = await Promise.all([1, 2, 3].map(() => drop(world, { most: 3 })));
      expect(dropped.flat().reduce((sum, [, messages]) => sum + messages, 0)).toBe(3);
      expect(await texts(world)).toEqual(["4", "5", "6"]);
    }),
  );

  test(
    "a number that is registered meanwhile gets what comes from then on, and keeps it",
    inWorld(open, async (world) => {
      const { store, account } = world;
      const theirs = () => store.inbound.receive([piece(world, { to: NUMBER, text: "theirs" })]);
      await theirs();
      await Promise.all([map(world), drop(world, { most: 0 })]);
      await Promise.all([theirs(), drop(world, { most: 0 }), theirs()]);
      await drop(world, { most: 0 });
      expect(await texts(world)).toEqual([]);
      expect(await texts(world, account.id)).toEqual(["theirs", "theirs"]);
    }),
  );
}

/** One after the other, over the connector whose letter they begin with. */
async function receive(world: World, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    const connectorId = text.startsWith("b") ? "connector-b" : "connector-a";
    await world.store.inbound.receive([piece(world, { to: NOBODYS, text, connectorId })]);
    world.clock.now += SECOND;
  }
}

async function drop({ store }: World, { most, limit = 100 }: { most: number; limit?: number }) {
  const dropped = await store.inbound.dropUnassigned({ most, limit });
  return dropped.map(({ connectorId, messages }) => [connectorId, messages] as const).sort();
}

/** Those that came first before others. */
async function texts({ store }: World, accountId: string | null = null): Promise<readonly string[]> {
  const all = await store.inbound.list({ accountId, limit: 100 });
  return all.map(({ text }) => text).reverse();
}
