import { expect, test } from "bun:test";
import type { InboundPiece } from "../../../core/inbound/inbound.ts";
import type { OptOut } from "../../../core/records/accounts.ts";
import { DAY, inWorld, type OpenStore, QUEUE, SMS, type World } from "../world.contract.ts";

const HANDSET = "+919812345678";
const NUMBER = "+14155550123";

export function optOutContract(open: OpenStore): void {
  test(
    "a stop word ends messages of the number it was written to, a start word lets them through again",
    inWorld(open, async (world) => {
      await map(world);
      expect(await write(world, " stop ")).toMatchObject({ kind: "stored", keyword: "stop" });
      expect(await write(world, "STOP")).toMatchObject({ keyword: "stop" });
      expect(await out(world, NUMBER)).toEqual([HANDSET]);
      expect(await out(world, "+19")).toEqual([]);
      expect(await out(world)).toEqual([HANDSET]);
      expect(await write(world, "please stop")).not.toHaveProperty("keyword");
      expect(await write(world, "help")).not.toHaveProperty("keyword");
      const [optOut, another] = await list(world);
      expect(another).toBeUndefined();
      expect(optOut).toMatchObject({ sender: NUMBER, recipient: HANDSET, reason: "wrote STOP" });
      expect(await write(world, "Start")).toMatchObject({ keyword: "start" });
      expect(await out(world, NUMBER)).toEqual([]);
    }),
  );

  test(
    "words and what they end are settings of the account",
    inWorld(open, async (world) => {
      const { store, account } = world;
      await map(world);
      await store.records.setSettings(account.id, { stop_words: "arrêt, stop all" });
      await store.records.setSettings(account.id, { opt_out_scope: "account" });
      expect(await write(world, "stop")).not.toHaveProperty("keyword");
      expect(await write(world, "ARRÊT")).toMatchObject({ keyword: "stop" });
      expect(await out(world)).toEqual([HANDSET]);
      expect(await out(world, "ANY")).toEqual([HANDSET]);
      await write(world, "unstop");
      expect(await out(world, NUMBER)).toEqual([]);
      await store.records.setSettings(account.id, { opt_out_scope: "off" });
      expect(await write(world, "stop all")).not.toHaveProperty("keyword");
    }),
  );

  test(
    "a start word lifts an opt-out of the number it is written to, whatever a stop word would end now",
    inWorld(open, async (world) => {
      const { store, account } = world;
      await map(world);
      for (const [before, after] of [
        ["sender", "account"],
        ["account", "sender"],
      ] as const) {
        await store.records.setSettings(account.id, { opt_out_scope: before });
        await write(world, "stop");
        await store.records.setSettings(account.id, { opt_out_scope: after });
        expect(await write(world, "start")).toMatchObject({ keyword: "start" });
        expect(await out(world, NUMBER)).toEqual([]);
      }
    }),
  );

  test(
    "a start word lifts nothing of another sender of the account",
    inWorld(open, async (world) => {
      const { store, account, id } = world;
      await map(world);
      const optOut = { id: id(), accountId: account.id, recipient: HANDSET, reason: "r", createdAt: 1 };
      await store.records.create("optOuts", { ...optOut, sender: "ACME" });
      await write(world, "stop");
      await write(world, "start");
      expect(await out(world, NUMBER)).toEqual([]);
      expect(await out(world, "ACME")).toEqual([HANDSET]);
    }),
  );

  test(
    "a start word lifts nothing of another account, of the same number or of all",
    inWorld(open, async (world) => {
      const { store, id } = world;
      const other = await world.addAccount();
      const optOut = { accountId: other.id, recipient: HANDSET, reason: "r", createdAt: 1 };
      for (const sender of [{ sender: NUMBER }, {}])
        await store.records.create("optOuts", { ...optOut, ...sender, id: id() });
      await map(world);
      await write(world, "stop");
      await write(world, "start");
      expect(await out(world, NUMBER)).toEqual([]);
      expect(await list({ ...world, account: other })).toHaveLength(2);
    }),
  );

  test(
    "where the provider gives no ids, STOP after START counts, though it may be a repeat of the STOP before; START after STOP does not",
    inWorld(open, async (world) => {
      const { store, account } = world;
      await map(world);
      const again = async (text: string, over = {}) => {
        const [result] = await store.inbound.receive([handset(world, text, { key: text, ...over })]);
        return [result?.kind, (await out(world, NUMBER)).length > 0];
      };
      const noId = { hasNoId: true } as const;
      expect(await again("STOP", noId)).toEqual(["stored", true]);
      await again("START", { from: "+919812345679", key: "another handset's" });
      expect(await again("STOP", noId)).toEqual(["repeat", true]);
      expect(await again("START", noId)).toEqual(["stored", false]);
      expect(await again("STOP")).toEqual(["repeat", false]);
      expect(await again("STOP", noId)).toEqual(["stored", true]);
      expect(await again("STOP", noId)).toEqual(["repeat", true]);
      expect(await again("START", noId)).toEqual(["repeat", true]);
      const found = await store.inbound.list({ accountId: account.id, limit: 10 });
      expect(found.map(({ text }) => text)).toEqual(["STOP", "START", "START", "STOP"]);
    }),
  );

  test(
    "of STOP, START and STOP that are stored together the last counts, and of other words a repeat is none",
    inWorld(open, async (world) => {
      await map(world);
      const all = ["STOP", "yes", "START", "yes", "STOP"].map((text) =>
        handset(world, text, { key: text, hasNoId: true }),
      );
      const results = await world.store.inbound.receive(all);
      expect(results.map(({ kind }) => kind)).toEqual(["stored", "stored", "stored", "repeat", "stored"]);
      expect(await out(world, NUMBER)).toEqual([HANDSET]);
    }),
  );

  test(
    "a stop word counts for jobs that wait already, also where others of the account have been claimed before",
    inWorld(open, async (world) => {
      await map(world);
      for (let index = 0; index < 2; index++)
        await world.sms({ to: [HANDSET], content: { ...SMS, from: NUMBER } as never });
      expect((await world.claimOne()).isOptedOut).toBeUndefined();
      await write(world, "stop");
      expect((await world.claimOne()).isOptedOut).toBe(true);
    }),
  );

  test(
    "a job claimed after its recipient opted out says so, and only of that sender, or if it names none",
    inWorld(open, async (world) => {
      const { store, account, id } = world;
      const sms = async (from: string | undefined, resolved?: object) => {
        await world.sms({ to: [HANDSET], content: { ...SMS, from, resolved } as never });
        return (await world.claimOne()).isOptedOut ?? false;
      };
      expect(await sms("14155550123")).toBe(false);
      const optOut = { accountId: account.id, recipient: HANDSET, reason: "r", createdAt: 1 };
      await store.records.create("optOuts", { ...optOut, id: id(), sender: NUMBER });
      expect(await sms("14155550123")).toBe(true);
      expect(await sms("ACME")).toBe(false);
      expect(await sms("ACME", { from: "14155550123" })).toBe(true);
      expect(await sms(undefined)).toBe(true);
      await world.email({ parts: [{ status: "pending", address: "a@x.test" }], jobs: [{ queue: QUEUE }] });
      expect((await world.claimOne()).isOptedOut).toBeUndefined();
      const all = { ...optOut, id: id() };
      await store.records.create("optOuts", all);
      expect(await store.records.create("optOuts", { ...all, id: id() })).toEqual({ conflict: "recipient" });
      expect(await sms("ACME")).toBe(true);
      await store.records.remove("optOuts", all.id);
      expect(await sms("ACME")).toBe(false);
    }),
  );
}

async function write(world: World, text: string) {
  return (await world.store.inbound.receive([handset(world, text)]))[0];
}

function handset({ id, clock }: World, text: string, over: Partial<InboundPiece> = {}): InboundPiece {
  const newId = id();
  const piece = { id: newId, connectorId: "c", from: HANDSET, to: NUMBER, text, encoding: "gsm7" as const };
  const times = { receivedAt: clock.now, sameSince: clock.now - DAY };
  return { ...piece, ...times, key: newId, segments: 1, ...over };
}

function out({ store, account }: World, sender?: string): Promise<readonly string[]> {
  const to = [HANDSET, "+919800000000"];
  return store.suppressions.findOptedOut({
    accountId: account.id,
    to,
    ...(sender !== undefined && { sender }),
  });
}

function list({ store, account }: World): Promise<readonly OptOut[]> {
  return store.records.list("optOuts", { accountId: account.id }, { limit: 10 });
}

async function map({ store, id, account }: World) {
  await store.records.create("inboundNumbers", {
    id: id(),
    accountId: account.id,
    number: NUMBER,
    createdAt: 1,
  });
}
