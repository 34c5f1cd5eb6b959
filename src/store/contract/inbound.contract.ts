import { expect, test } from "bun:test";
import type { InboundPiece } from "../../core/inbound/inbound.ts";
import { DAY, HOUR, inWorld, type OpenStore, SECOND, type World } from "./world.contract.ts";

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

  partsContract(open);
}

function partsContract(open: OpenStore): void {
  const texts = async ({ store, account }: World) =>
    (await store.inbound.list({ accountId: account.id, limit: 10 })).map(({ text }) => text);

  test(
    "the parts of a message make one, in any order and each once, with a pair of surrogates between them",
    inWorld(open, async (world) => {
      const { store, account } = world;
      await map(world);
      const part = (number: number, text: string) =>
        piece(world, { text, part: { reference: 7, total: 3, number }, key: `k${number}` });
      const pieces = [part(3, "c"), part(1, "a\ud83d"), part(3, "c"), part(2, "\ude00b"), part(1, "a\ud83d")];
      const results = await store.inbound.receive(pieces);
      expect(results.map(({ kind }) => kind)).toEqual(["waiting", "waiting", "repeat", "stored", "repeat"]);
      const [message, another] = await store.inbound.list({ accountId: account.id, limit: 5 });
      expect(message).toMatchObject({ id: pieces[3]!.id, text: "a😀bc", segments: 3 });
      expect(another).toBeUndefined();
    }),
  );

  test(
    "parts that come one after the other make one message, and what is repeated later none",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      await map(world);
      const kinds: string[] = [];
      for (const number of [1, 2, 1, 2]) {
        const part = { reference: 7, total: 2, number };
        const [result] = await store.inbound.receive([
          piece(world, { text: `${number}`, part, key: `k${number}` }),
        ]);
        kinds.push(result?.kind ?? "");
      }
      expect(kinds).toEqual(["waiting", "stored", "repeat", "repeat"]);
      clock.now += SECOND;
      while ((await store.inbound.storeIncomplete(clock.now, 10)) > 0);
      expect(await texts(world)).toEqual(["12"]);
    }),
  );

  test(
    "a message whose parts do not all come is kept as it is when their time is up, and a late repeat makes no second",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      await map(world);
      const part = (reference: number, number: number) =>
        piece(world, { text: `${reference}.${number}`, part: { reference, total: 3, number } });
      await store.inbound.receive([part(1, 1), part(1, 3), part(2, 1), part(2, 2), part(2, 3)]);
      expect(await store.inbound.storeIncomplete(clock.now, 10)).toBe(0);
      expect(await texts(world)).toEqual(["2.12.22.3"]);
      clock.now += SECOND;
      expect(await store.inbound.storeIncomplete(clock.now, 10)).toBe(5);
      expect(await store.inbound.storeIncomplete(clock.now, 10)).toBe(0);
      expect((await texts(world)).sort()).toEqual(["1.1…1.3", "2.12.22.3"]);
    }),
  );

  test(
    "a handset that counts its references anew begins a new message, and loses nothing of the one before",
    inWorld(open, async (world) => {
      await map(world);
      const part = (number: number, text: string) =>
        piece(world, { text, part: { reference: 1, total: 2, number } });
      const { receive } = world.store.inbound;
      await receive([part(1, "old "), part(1, "a"), part(2, "b"), part(1, "c"), part(2, "d")]);
      expect((await texts(world)).sort()).toEqual(["ab", "cd", "old …"]);
    }),
  );

  test(
    "parts that came over several connectors of one account make one message, of the account that has the last one's number",
    inWorld(open, async (world) => {
      const { store, account, clock } = world;
      await map(world);
      const part = (connectorId: string, reference: number, number: number) =>
        piece(world, {
          connectorId,
          sharedAs: "first",
          hasNoId: true,
          text: `${number}`,
          part: { reference, total: 2, number },
        });
      const kinds = async (...pieces: InboundPiece[]) =>
        (await store.inbound.receive(pieces)).map(({ kind, accountId }) => accountId ?? kind);
      expect(await kinds(part("first", 1, 2), part("second", 1, 1))).toEqual(["waiting", account.id]);
      expect(await kinds(part("first", 1, 1))).toEqual(["repeat"]);
      expect(await kinds(part("second", 2, 1))).toEqual(["waiting"]);
      expect(await kinds({ ...part("second", 2, 1), text: "another" })).toEqual(["waiting"]);
      clock.now += SECOND;
      while ((await store.inbound.storeIncomplete(clock.now, 10)) > 0);
      const list = await store.inbound.list({ accountId: account.id, limit: 5 });
      expect(list.map(({ text, connectorId }) => [text, connectorId]).sort()).toEqual([
        ["12", "second"],
        ["1…", "first"],
        ["another…", "first"],
      ]);
    }),
  );

  test(
    "a part that is known to be no repeat begins another message, once the one with the same part is complete",
    inWorld(open, async (world) => {
      await map(world);
      const kindOf = async (number: number, over: Partial<InboundPiece>) => {
        const part = { reference: 1, total: 2, number };
        const [result] = await world.store.inbound.receive([
          piece(world, { text: `${number}`, part, ...over }),
        ]);
        return result?.kind;
      };
      const noId = { key: "words", hasNoId: true } as const;
      const isNew = { ...noId, key: "other", isKnownNew: true } as const;
      expect(await kindOf(1, noId)).toBe("waiting");
      expect(await kindOf(1, isNew)).toBe("repeat");
      expect(await kindOf(2, noId)).toBe("stored");
      expect(await kindOf(2, { ...noId, key: "other" })).toBe("repeat");
      expect(await kindOf(1, isNew)).toBe("waiting");
      expect(await kindOf(1, { key: "id 1" })).toBe("repeat");
      expect(await kindOf(2, { key: "id 2" })).toBe("stored");
      expect(await kindOf(2, { key: "id 2" })).toBe("repeat");
      expect(await kindOf(2, { key: "id 3" })).toBe("waiting");
      expect(await texts(world)).toEqual(["12", "12"]);
    }),
  );
}

export function piece({ id, clock }: World, over: Partial<InboundPiece> = {}): InboundPiece {
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
