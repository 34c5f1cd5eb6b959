/** What handsets write, handed over to two processes at once, each held in the middle of its transaction. */
import { expect, test } from "bun:test";
import type { InboundPiece, InboundResult } from "../../../core/inbound/inbound.ts";
import { DAY } from "../../contract/world.contract.ts";
import { type Ground, race } from "../database/race.contract.ts";

function piece({ id, clock }: Ground, over: Partial<InboundPiece> = {}): InboundPiece {
  return {
    id: id(),
    connectorId: "c",
    from: "+919812345678",
    to: "12345",
    text: "hi",
    encoding: "gsm7",
    segments: 1,
    receivedAt: clock.now,
    key: "k",
    sameSince: clock.now - DAY,
    ...over,
  };
}

const all = { accountId: null, limit: 10 } as const;

test("the parts of a message that come to two processes at the same time make one message", () =>
  race(async (world) => {
    const { store, other } = world;
    const part = (number: number) =>
      piece(world, { text: `${number}`, key: `k${number}`, part: { reference: 1, total: 2, number } });
    const calls: Promise<readonly InboundResult[]>[] = [];
    await world.whileHeld("inbound_parts", async (isWaiting) => {
      calls.push(store.inbound.receive([part(1)]), other.inbound.receive([part(2)]));
      await isWaiting(2);
    });
    const kinds = (await Promise.all(calls)).flat().map(({ kind }) => kind);
    expect(kinds.sort()).toEqual(["stored", "waiting"]);
    expect((await store.inbound.list(all)).map(({ text }) => text)).toEqual(["12"]);
  }));

test("a message that is handed over to two processes at the same time is stored once", () =>
  race(async (world) => {
    const { store, other } = world;
    const calls: Promise<readonly InboundResult[]>[] = [];
    await world.whileHeld("inbound_messages", async (isWaiting) => {
      for (const each of [store, other]) calls.push(each.inbound.receive([piece(world)]));
      await isWaiting(2);
    });
    const kinds = (await Promise.all(calls)).flat().map(({ kind }) => kind);
    expect(kinds.sort()).toEqual(["repeat", "stored"]);
    expect(await store.inbound.list(all)).toHaveLength(1);
  }));

test("what is left of a message whose parts did not come is kept once, whoever looks", () =>
  race(async (world) => {
    const { store, other, clock } = world;
    await store.inbound.receive([piece(world, { part: { reference: 1, total: 2, number: 1 } })]);
    const calls: Promise<number>[] = [];
    await world.whileHeld("inbound_messages", async (isWaiting) => {
      for (const each of [store, other]) calls.push(each.inbound.storeIncomplete(clock.now + 1, 10));
      await isWaiting(2);
    });
    expect((await Promise.all(calls)).sort()).toEqual([0, 1]);
    expect((await store.inbound.list(all)).map(({ text }) => text)).toEqual(["hi…"]);
  }));
