import { expect, test } from "bun:test";
import type { InboundPiece } from "../../../core/inbound/inbound.ts";
import { PIECE } from "../../inbound/end-in-pieces.ts";
import { DAY, HOUR, inWorld, type OpenStore, SECOND, type World } from "../world.contract.ts";

export const HANDSET = "+919812345678";
export const NUMBER = "+14155550123";

export function inboundContract(open: OpenStore): void {
  test(
    "what handsets write is listed newest first, a page at a time, of those that match",
    inWorld(open, async (world) => {
      const { store, account, clock } = world;
      await map(world);
      const start = clock.now;
      const ids: string[] = [];
      for (const from of [HANDSET, "+4478", HANDSET]) {
        const one = piece(world, { from, text: `text ${ids.length}` });
        ids.push(one.id);
        expect(await store.inbound.receive([one])).toEqual([{ kind: "stored", accountId: account.id }]);
        clock.now += SECOND;
      }
      const list = async (over = {}) =>
        (await store.inbound.list({ accountId: account.id, limit: 10, ...over })).map(({ id }) => id);
      const [first, second, third] = ids;
      expect(await list()).toEqual([third!, second!, first!]);
      expect(await list({ limit: 1 })).toEqual([third!]);
      expect(await list({ olderThan: third })).toEqual([second!, first!]);
      expect(await list({ from: HANDSET })).toEqual([third!, first!]);
      expect(await list({ to: NUMBER, from: "+4478" })).toEqual([second!]);
      expect(await list({ to: "+1" })).toEqual([]);
      expect(await list({ after: start + SECOND })).toEqual([third!, second!]);
      expect(await list({ before: start + SECOND })).toEqual([first!]);
      expect(await list({ accountId: (await world.addAccount()).id })).toEqual([]);
    }),
  );

  test(
    "an inbound message keeps what it was, half surrogate pairs aside",
    inWorld(open, async (world) => {
      const { store, account } = world;
      await map(world);
      const one = piece(world, { text: "grüße \ud83d", encoding: "ucs2", segments: 3 });
      await store.inbound.receive([one]);
      expect(await store.inbound.list({ accountId: account.id, limit: 1 })).toEqual([
        {
          id: one.id,
          accountId: account.id,
          connectorId: "connector-a",
          from: HANDSET,
          to: NUMBER,
          text: "grüße \ufffd",
          segments: 3,
          encoding: "ucs2",
          receivedAt: one.receivedAt,
        },
      ]);
    }),
  );

  test(
    "a repeat by the provider is stored once; the same words later are a message of their own",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      const same = { key: "k", sameSince: clock.now };
      const kinds = async (over = {}) =>
        (await store.inbound.receive([piece(world, { ...same, ...over })])).map(({ kind }) => kind);
      expect(await kinds()).toEqual(["stored"]);
      expect(await kinds()).toEqual(["repeat"]);
      expect(await kinds({ connectorId: "connector-b" })).toEqual(["stored"]);
      clock.now += SECOND;
      expect(await kinds({ sameSince: clock.now })).toEqual(["stored"]);
      const twice = [1, 2].map(() => piece(world, { key: "twice", sameSince: clock.now }));
      expect((await store.inbound.receive(twice)).map(({ kind }) => kind)).toEqual(["stored", "repeat"]);
    }),
  );

  test(
    "nothing is taken for a repeat of what came in a time, over a connector, that repeats have ended for",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      const start = clock.now;
      const kind = async (key: string, over = {}) =>
        (await store.inbound.receive([piece(world, { key, sameSince: start, ...over })]))[0]?.kind;
      const other = { connectorId: "connector-b" };
      for (const key of ["before", "in", "after"]) {
        expect(await kind(key)).toBe("stored");
        clock.now += SECOND;
      }
      await kind("in", other);
      await store.inbound.endRepeats({
        connectorId: "connector-a",
        since: start + SECOND,
        until: start + SECOND,
      });
      expect(await kind("in")).toBe("stored");
      expect([await kind("before"), await kind("after"), await kind("in", other)]).toEqual(
        Array(3).fill("repeat"),
      );
      expect(await kind("in")).toBe("repeat");
    }),
  );

  test(
    "repeats end for all messages of a time, however many these are",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      const start = clock.now;
      const many = 2 * PIECE + 1;
      const wholes = Array.from({ length: many }, (_, index) => ({ key: `${index}` }));
      const parts = wholes.map(({ key }, index) => ({
        key: `part ${key}`,
        to: index % 2 ? "+14155550100" : NUMBER,
        part: { reference: index >> 1, total: 1, number: 1 },
        hasNoId: true as const,
        receivedAt: start + index,
      }));
      const kinds = async (pieces: readonly Partial<InboundPiece>[]) => {
        const results = await store.inbound.receive(
          pieces.map((each) => piece(world, { ...each, sameSince: start })),
        );
        return new Set(results.map(({ kind }) => kind));
      };
      for (const pieces of [wholes, parts]) expect(await kinds(pieces)).toEqual(new Set(["stored"]));
      await store.inbound.endRepeats({ connectorId: "connector-a", since: start, until: start + many });
      for (const pieces of [wholes, parts]) expect(await kinds(pieces)).toEqual(new Set(["stored"]));
    }),
  );

  test(
    "a number is its account's: the connector's own before that of any, then the one account with such a sender",
    inWorld(open, async (world) => {
      const { store, account, id, clock, addAccount } = world;
      const [second, third] = [await addAccount(), await addAccount()];
      const owner = async (to = NUMBER, connectorId = "connector-a") =>
        (await store.inbound.receive([piece(world, { to, connectorId })]))[0]?.accountId;
      expect(await owner()).toBeUndefined();
      expect(await store.inbound.countUnassigned()).toBe(1);
      expect(await store.inbound.list({ accountId: null, limit: 5 })).toHaveLength(1);
      const sender = (accountId: string, senderId: string) =>
        store.records.create("senders", { id: id(), accountId, senderId, isDefault: false, createdAt: 1 });
      await sender(account.id, NUMBER.slice(1));
      expect(await owner()).toBe(account.id);
      expect(await store.inbound.countUnassigned()).toBe(1);
      await sender(second.id, NUMBER);
      expect(await owner()).toBeUndefined();
      await map(world, second.id);
      expect(await owner()).toBe(second.id);
      expect(await owner("+14155550100")).toBeUndefined();
      const connector = { id: id(), name: "c", kind: "smpp", config: {}, secrets: {}, isEnabled: true };
      await store.records.create("connectors", { ...connector, createdAt: clock.now });
      await map(world, third.id, connector.id);
      expect(await owner(NUMBER, connector.id)).toBe(third.id);
      expect(await owner()).toBe(second.id);
      const only = { id: id(), accountId: account.id, connectorId: connector.id, number: "+14155550199" };
      await store.records.create("inboundNumbers", { ...only, createdAt: 1 });
      expect(await owner(only.number, connector.id)).toBe(account.id);
      expect(await owner(only.number)).toBeUndefined();
      expect(await store.records.remove("connectors", connector.id)).toBe("in_use");
      const twice = { id: id(), accountId: account.id, number: NUMBER, createdAt: 1 };
      expect(await store.records.create("inboundNumbers", twice)).toEqual({ conflict: "number" });
    }),
  );

  test(
    "a sender is the number it stands for, however operators have written it",
    inWorld(open, async (world) => {
      const { store, account, id } = world;
      const owner = async (to: string) => (await store.inbound.receive([piece(world, { to })]))[0]?.accountId;
      for (const senderId of ["9223177998", "+14155550123", "14155550124", "56161", "19223177990"]) {
        const sender = { id: id(), accountId: account.id, senderId, isDefault: false, createdAt: 1 };
        await store.records.create("senders", sender);
      }
      for (const to of ["+919223177998", "+14155550123", "+14155550124", "56161", "+19223177990"]) {
        expect([to, await owner(to)]).toEqual([to, account.id]);
      }
      for (const to of ["+9223177998", "+9156161", "+919223177990"]) {
        expect([to, await owner(to)]).toEqual([to, undefined]);
      }
    }),
  );

  test(
    "inbound messages go after their retention",
    inWorld(open, async (world) => {
      const { store, clock, account } = world;
      await map(world);
      await store.inbound.receive([piece(world), piece(world)]);
      clock.now += HOUR;
      await store.inbound.receive([piece(world)]);
      const bounds = { before: clock.now, atLatest: 0 };
      expect(await store.retention.pruneInbound({ ...bounds, limit: 1 })).toBe(1);
      expect(await store.inbound.list({ accountId: account.id, limit: 5 })).toHaveLength(2);
      while ((await store.retention.pruneInbound({ ...bounds, limit: 10 })) > 0);
      expect(await store.inbound.list({ accountId: account.id, limit: 5 })).toHaveLength(1);
    }),
  );
}

export function piece(
  { id, clock }: Pick<World, "id" | "clock">,
  over: Partial<InboundPiece> = {},
): InboundPiece {
  const newId = id();
  return {
    id: newId,
    connectorId: "connector-a",
    from: HANDSET,
    to: NUMBER,
    text: "hello",
    encoding: "gsm7",
    segments: 1,
    receivedAt: clock.now,
    key: newId,
    sameSince: clock.now - DAY,
    ...over,
  };
}

export async function map({ store, id, account }: World, accountId = account.id, connectorId?: string) {
  const number = { id: id(), accountId, number: NUMBER, createdAt: 1 };
  const whole = connectorId === undefined ? number : { ...number, connectorId };
  expect(await store.records.create("inboundNumbers", whole)).toBe("created");
}
