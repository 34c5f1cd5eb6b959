/** Receipts and settlements at two processes at once, each held in the middle of its transaction. */
import { expect, test } from "bun:test";
import type { ClaimedJob } from "../../../core/queue/claimed-job.ts";
import { partReference } from "../../../core/receipts/short-reference.ts";
import { CONNECTOR, SECOND, sent, unconfirmed } from "../../contract/world.contract.ts";
import type { Store } from "../../store.ts";
import { type Ground, race } from "../database/race.contract.ts";

function receipt({ clock }: Ground, providerMessageId: string, over = {}) {
  const about = { connectorId: CONNECTOR, providerMessageId, receivedAt: clock.now };
  return { ...about, status: "delivered" as const, ...over };
}

function settlement({ clock }: Ground, { jobId, claim, messageId }: ClaimedJob, ids: readonly string[]) {
  return {
    jobId,
    claim,
    messageId,
    at: clock.now,
    connectorId: CONNECTOR,
    countsAsAttempt: true,
    outcomes: ids.map((id) => sent(id)),
    next: { kind: "done" } as const,
    keepsContent: false,
  };
}

/** However the one writes the id that the other has. */
const SPELLINGS = [
  ["p-1", "p-1"],
  ["A1B2C3D4", "2712847316"],
] as const;

for (const [answered, told] of SPELLINGS) {
  const word = { recipient: "+919812345678" };

  test(`a receipt that tells ${told} waits for the settlement that is writing ${answered} at another process`, () =>
    race(async (world) => {
      const { other, sms, claimOne, settle, status, store } = world;
      const [id = ""] = await sms();
      const job = await claimOne();
      const calls: Promise<unknown>[] = [];
      await world.whileHeld("provider_ids", async (isWaiting) => {
        calls.push(settle(job, { outcomes: [sent(answered)] }));
        await isWaiting(1);
        calls.push(other.receipts.record([receipt(world, told, word)]));
        await isWaiting(2);
      });
      await Promise.all(calls);
      expect(await status(id)).toBe("delivered");
      expect(await store.receipts.countParked()).toBe(0);
    }));

  test(`a settlement that knows ${answered} waits for the receipt that is parking ${told} at another process`, () =>
    race(async (world) => {
      const { other, sms, claimOne, settle, status, store } = world;
      const [id = ""] = await sms();
      const job = await claimOne();
      const calls: Promise<unknown>[] = [];
      await world.whileHeld("parked_receipts", async (isWaiting) => {
        calls.push(other.receipts.record([receipt(world, told, word)]));
        await isWaiting(1);
        calls.push(settle(job, { outcomes: [sent(answered)] }));
        await isWaiting(2);
      });
      await Promise.all(calls);
      expect(await status(id)).toBe("delivered");
      expect(await store.receipts.countParked()).toBe(0);
    }));
}

test("a settlement that knows the second id of a receipt waits until it is parked, whichever process has it", () =>
  race(async (world) => {
    const { other, sms, claimOne, settle, status, store } = world;
    const [id = ""] = await sms();
    const job = await claimOne();
    const calls: Promise<unknown>[] = [];
    const word = { otherId: "right", recipient: "+919812345678" };
    await world.whileHeld("parked_receipts", async (isWaiting) => {
      calls.push(other.receipts.record([receipt(world, "unknown", word)]));
      await isWaiting(1);
      calls.push(settle(job, { outcomes: [sent("right")] }));
      await isWaiting(2);
    });
    await Promise.all(calls);
    expect(await status(id)).toBe("delivered");
    expect(await store.receipts.countParked()).toBe(0);
  }));

test("settlements that know one id each of a receipt with two do not block each other, and one has it", () =>
  race(async (world) => {
    const { other, sms, claimOne, status, store } = world;
    const ids = await sms({ to: ["+919812345678", "+919812345678"] });
    const [one, two] = [await claimOne(), await claimOne()];
    const firstIds = ["p-1", "p-2", "p-3", "p-4"];
    const toOtherId = (id: string) => `${id}-other`;
    const about = (id: string) => ({ otherId: toOtherId(id), recipient: "+919812345678" });
    await other.receipts.record(firstIds.map((id) => receipt(world, id, about(id))));
    const calls: Promise<unknown>[] = [];
    await world.whileHeld("parked_receipts", async (isWaiting) => {
      calls.push(store.queue.settle([settlement(world, one, firstIds)]));
      calls.push(other.queue.settle([settlement(world, two, firstIds.map(toOtherId).reverse())]));
      await isWaiting(2);
    });
    expect((await Promise.all(calls)).flat()).toEqual([true, true]);
    const statuses = await Promise.all(ids.map((id) => status(id)));
    expect(statuses.sort()).toEqual(["delivered", "sent"]);
    expect(await store.receipts.countParked()).toBe(0);
  }));

test("receipts that share an id are parked without waiting for a settlement that takes an older one by its other id", () =>
  race(async (world) => {
    const { other, sms, claimOne, settle, status, store } = world;
    const [id = ""] = await sms();
    const job = await claimOne();
    const named = (name: string) =>
      receipt(world, "constant", { otherId: name, recipient: "+919812345678", raw: name });
    await store.receipts.record([named("right")]);
    const calls: Promise<unknown>[] = [];
    await world.whileHeld("provider_ids", async (isWaiting) => {
      calls.push(settle(job, { outcomes: [sent("right")] }));
      await isWaiting(1);
      await other.receipts.record(Array.from({ length: 9 }, (_, at) => named(`p-${at}`)));
    });
    await Promise.all(calls);
    expect(await status(id)).toBe("delivered");
    expect(await store.receipts.countParked()).toBe(9);
  }));

test("a receipt that is parked again at one process is found by the settlement that knows its second id at another", () =>
  race(async (world) => {
    const { other, store, sms, claimOne, settle, status } = world;
    const connectorId = "connector-b";
    const [id = ""] = await sms({ to: ["+919812345678"] });
    await settle(await claimOne(), { outcomes: [sent("same")] });
    const [otherId = ""] = await sms({ to: ["+919898989898"] });
    const job = await claimOne();
    const word = receipt(world, "same", { connectorId, recipient: "+919812345678" });
    const otherWord = { ...word, recipient: "+919898989898", otherId: "right" };
    await store.receipts.record([word, otherWord]);
    const calls: Promise<unknown>[] = [];
    await world.whileHeld("provider_ids", async (isWaiting) => {
      calls.push(store.receipts.record([{ ...word, alsoOf: [CONNECTOR] }]));
      await isWaiting(1);
      calls.push(other.queue.settle([{ ...settlement(world, job, ["right"]), connectorId }]));
      await isWaiting(2);
    });
    await Promise.all(calls);
    expect([await status(id), await status(otherId)]).toEqual(["delivered", "delivered"]);
    expect(await store.receipts.countParked()).toBe(0);
  }));

test("a receipt with a reference and the settlement that gives its part up do not miss each other", () =>
  race(async (world) => {
    const { other, sms, claimOne, settle, status, clock } = world;
    const [id = ""] = await sms();
    const job = await claimOne();
    const calls: Promise<unknown>[] = [];
    await world.whileHeld("unconfirmed_parts", async (isWaiting) => {
      const next = { kind: "again", dueAt: clock.now + SECOND } as const;
      calls.push(settle(job, { outcomes: [unconfirmed()], next }));
      await isWaiting(1);
      const proof = { reference: partReference(id, 0), recipient: "+919812345678" };
      calls.push(other.receipts.record([receipt(world, "x-1", proof)]));
      await isWaiting(2);
    });
    await Promise.all(calls);
    expect(await status(id)).toBe("delivered");
    await world.store.queue.stage(clock.now + SECOND, 10);
    expect(await world.claim()).toEqual([]);
  }));

/** What a receipt that comes too early calls the message, and where it is kept. */
const EARLY = [
  ["its reference", "provider_ids", (id: string) => ({ reference: partReference(id, 0) })],
  ["our id", "parked_receipts", (id: string) => ({ providerMessageId: id, isOwnId: true })],
] as const;
for (const [name, table, told] of EARLY)
  for (const first of ["settlement", "receipt"] as const)
    test(`that a part failed which is being sent again, as ${name} says, and the settlement that gives it up again, do not miss each other: the ${first} first`, () =>
      race(async (world) => {
        const { other, store, sms, claimOne, settle, status, clock } = world;
        const [id = ""] = await sms();
        const next = { kind: "again", dueAt: clock.now } as const;
        await settle(await claimOne(), { outcomes: [unconfirmed()], next });
        await store.queue.stage(clock.now, 10);
        const job = await claimOne();
        const word = { ...told(id), recipient: "+919812345678", status: "undelivered" } as const;
        const steps = {
          settlement: () => settle(job, { outcomes: [unconfirmed()], next }),
          receipt: () => other.receipts.record([receipt(world, "x-1", word)]),
        };
        const calls: Promise<unknown>[] = [];
        await world.whileHeld(first === "settlement" ? "unconfirmed_parts" : table, async (isWaiting) => {
          calls.push(steps[first]());
          await isWaiting(1);
          calls.push(steps[first === "settlement" ? "receipt" : "settlement"]());
          await isWaiting(2);
        });
        await Promise.all(calls);
        expect(await status(id)).toBe("undelivered");
        expect(await store.receipts.countParked()).toBe(0);
      }));

test("of one receipt that two processes record at the same time one moves the message", () =>
  race(async (world) => {
    const { other, store, sms, claimOne, settle, history } = world;
    const [id = ""] = await sms();
    await settle(await claimOne(), { outcomes: [sent("p-1")] });
    const calls: ReturnType<Store["receipts"]["record"]>[] = [];
    await world.whileHeld("provider_ids", async (isWaiting) => {
      for (const each of [store, other]) calls.push(each.receipts.record([receipt(world, "p-1")]));
      await isWaiting(2);
    });
    const results = (await Promise.all(calls)).flat();
    expect(results.map(({ kind }) => kind).sort()).toEqual(["applied", "late"]);
    expect(await history(id)).toEqual(["attempt:sent", "receipt:delivered", "late_receipt:delivered"]);
  }));

test("a receipt that the simulators of two processes tell at the same time is told once", () =>
  race(async (world) => {
    const { other, store, account, clock, sms, claimOne, settle, history } = world;
    const [messageId = ""] = await sms();
    await settle(await claimOne(), { outcomes: [sent("s-1")] });
    const owed = { at: clock.now, status: "delivered" } as const;
    const entry = { id: "s-1", accountId: account.id, messageId, channel: "sms", to: "+911" } as const;
    await store.sandbox.record([{ ...entry, receivedAt: clock.now, rendered: {}, receipt: owed }]);
    const calls: ReturnType<Store["receipts"]["record"]>[] = [];
    await world.whileHeld("provider_ids", async (isWaiting) => {
      for (const each of [store, other]) calls.push(each.receipts.record([receipt(world, "s-1")]));
      await isWaiting(2);
    });
    const results = (await Promise.all(calls)).flat();
    expect(results.map(({ kind }) => kind).sort()).toEqual(["applied", "late"]);
    expect(results.map((result) => result.messageId)).toEqual([messageId, messageId]);
    expect(await history(messageId)).toEqual(["attempt:sent", "receipt:delivered"]);
  }));

test("of two settlements that bring home one id at the same time one takes the receipt that was parked under it", () =>
  race(async (world) => {
    const { other, claim, sms, status, store } = world;
    const ids = await sms({ to: ["+919812345678", "+919812345679"] });
    const jobs = await claim(2);
    await store.receipts.record([receipt(world, "same")]);
    const calls: Promise<readonly boolean[]>[] = [];
    await world.whileHeld("provider_ids", async (isWaiting) => {
      for (const [at, job] of jobs.entries()) {
        calls.push((at === 0 ? store : other).queue.settle([settlement(world, job, ["same"])]));
      }
      await isWaiting(2);
    });
    expect((await Promise.all(calls)).flat()).toEqual([true, true]);
    const statuses = await Promise.all(ids.map((id) => status(id)));
    expect(statuses.sort()).toEqual(["delivered", "sent"]);
  }));

test("receipts and settlements of many messages, each at its own process, in opposite order, all find each other", () =>
  race(async (world) => {
    const { other, claim, sms, status, store } = world;
    const ids = await sms({ to: Array.from({ length: 60 }, (_, at) => `+9198123456${10 + at}`) });
    const jobs = await claim(60);
    const settlements = jobs.map((job) =>
      settlement(world, job, [`a-${job.messageId}`, `b-${job.messageId}`]),
    );
    const receipts = ids.toReversed().flatMap((id) => [receipt(world, `b-${id}`), receipt(world, `a-${id}`)]);
    await Promise.all([
      ...inThrees(settlements).map((some) => store.queue.settle(some)),
      ...inThrees(receipts).map((some) => other.receipts.record(some)),
    ]);
    const statuses = await Promise.all(ids.map((id) => status(id)));
    expect(new Set(statuses)).toEqual(new Set(["delivered"]));
    expect(await store.receipts.countParked()).toBe(0);
  }));

function inThrees<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / 3) }, (_, at) => all.slice(at * 3, at * 3 + 3));
}
