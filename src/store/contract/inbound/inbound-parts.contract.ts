import { expect, test } from "bun:test";
import type { InboundPiece } from "../../../core/inbound/inbound.ts";
import { HOUR, inWorld, type OpenStore, SECOND, type World } from "../world.contract.ts";
import { map, piece } from "./inbound.contract.ts";

/** Long messages from handsets, which come in parts. */
export function inboundPartsContract(open: OpenStore): void {
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
    "parts that came over several connectors of one account make one message, of whom the number is over the last one's",
    inWorld(open, async (world) => {
      const { store, account, clock } = world;
      const second = { id: "second", name: "second", kind: "smpp", config: {}, secrets: {}, isEnabled: true };
      await store.records.create("connectors", { ...second, createdAt: 1 });
      await map(world, account.id, second.id);
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
        ["1…", "second"],
        ["another…", "second"],
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
      expect(await kindOf(2, { ...isNew, key: "another" })).toBe("stored");
      expect(await kindOf(1, isNew)).toBe("repeat");
      expect(await kindOf(1, { ...isNew, key: "next" })).toBe("waiting");
      expect(await kindOf(1, { key: "id 1" })).toBe("repeat");
      expect(await kindOf(2, { key: "id 2" })).toBe("stored");
      expect(await kindOf(2, { key: "id 2" })).toBe("repeat");
      expect(await kindOf(2, { key: "id 3" })).toBe("waiting");
      expect(await texts(world)).toEqual(["12", "12", "12"]);
    }),
  );

  test(
    "a part begins another message once the same part of a complete one came too long ago to be the same",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      await map(world);
      const kindOf = async (number: number) => {
        const part = { reference: 1, total: 2, number };
        const same = { key: `${number}`, hasNoId: true, sameSince: clock.now - HOUR } as const;
        const [result] = await store.inbound.receive([piece(world, { text: `${number}`, part, ...same })]);
        return result?.kind;
      };
      expect([await kindOf(1), await kindOf(2)]).toEqual(["waiting", "stored"]);
      clock.now += HOUR;
      expect([await kindOf(1), await kindOf(2)]).toEqual(["repeat", "repeat"]);
      clock.now += SECOND;
      expect([await kindOf(1), await kindOf(2)]).toEqual(["waiting", "stored"]);
    }),
  );

  test(
    "a part begins another message once repeats have ended for that of a complete one, over its connector and of its time",
    inWorld(open, async (world) => {
      const { store, clock } = world;
      await map(world);
      const start = clock.now;
      const kindOf = async (number: number, reference: number) => {
        const part = { reference, total: 2, number };
        const same = {
          key: `${reference}.${number}`,
          hasNoId: true as const,
          connectorId: "a",
          sharedAs: "group",
        };
        const [result] = await store.inbound.receive([piece(world, { text: `${number}`, part, ...same })]);
        return result?.kind;
      };
      const end = (connectorId: string, since: number, until: number) =>
        store.inbound.endRepeats({ connectorId, since, until });
      expect([await kindOf(1, 1), await kindOf(2, 1)]).toEqual(["waiting", "stored"]);
      expect(await kindOf(1, 2)).toBe("waiting");
      await end("b", start, start);
      await end("group", start, start);
      await end("a", start - SECOND, start - 1);
      await end("a", start + 1, start + SECOND);
      expect([await kindOf(1, 1), await kindOf(2, 1)]).toEqual(["repeat", "repeat"]);
      await end("a", start, start);
      expect([await kindOf(1, 1), await kindOf(2, 1)]).toEqual(["waiting", "stored"]);
      expect([await kindOf(1, 1), await kindOf(2, 1)]).toEqual(["repeat", "repeat"]);
      // What waits for its other part goes on to.
      expect([await kindOf(1, 2), await kindOf(2, 2)]).toEqual(["repeat", "stored"]);
    }),
  );
}
