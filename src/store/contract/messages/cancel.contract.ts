import { expect, test } from "bun:test";
import {
  deferred,
  HOUR,
  inWorld,
  numberAll,
  type OpenStore,
  sent,
  unconfirmed,
  type World,
} from "../world.contract.ts";

export function cancelContract(open: OpenStore): void {
  test(
    "a queued message is canceled with its job, and no other one is, and its text is wiped",
    inWorld(open, async (world) => {
      const { sms, claim, message, inside } = world;
      const [[id = ""], [other = ""]] = [await sms(), await sms()];
      expect(await cancel(world, id)).toBe("canceled");
      expect((await message(id)).progress).toMatchObject({ status: "failed", error: { code: "canceled" } });
      expect((await claim()).map(({ messageId }) => messageId)).toEqual([other]);
      expect([await inside.hasBody(id), await inside.hasBody(other)]).toEqual([false, true]);
    }),
  );

  test(
    "a scheduled message is canceled and never comes due",
    inWorld(open, async (world) => {
      const { store, sms, claim, clock, status } = world;
      const [id = ""] = await sms({ dueAt: clock.now + HOUR });
      expect(await cancel(world, id)).toBe("canceled");
      await store.queue.stage(clock.now + 2 * HOUR, 10);
      expect(await claim()).toEqual([]);
      expect(await status(id)).toBe("failed");
    }),
  );

  test(
    "canceling is a public event, once however often it is asked for",
    inWorld(open, async (world) => {
      const { store, sms, account } = world;
      const [id = ""] = await sms();
      for (let i = 0; i < 3; i++) expect(await cancel(world, id)).toBe("canceled");
      await numberAll(world);
      const { events } = await store.feed.read({ accountId: account.id, after: 0, limit: 10 });
      expect(events).toEqual([
        expect.objectContaining({
          entry: expect.objectContaining({
            eventType: "sms.failed",
            error: expect.objectContaining({ code: "canceled" }),
          }),
        }),
      ]);
    }),
  );

  test(
    "a key is saved with the cancellation, and found from then on until it expires",
    inWorld(open, async (world) => {
      const { store, account, sms, clock, id: anyId } = world;
      const [id = ""] = await sms();
      const [other = ""] = await sms();
      const withKey = (of: string, scope: string) => {
        const { now } = clock;
        const idempotency = world.key("k", { scope, now, expiresAt: now + HOUR });
        return store.messages.cancel({ accountId: account.id, channel: "sms", id: of, now, idempotency });
      };
      expect(await withKey(anyId(), "a")).toBe("not_found");
      const both = await Promise.all([withKey(id, "a"), withKey(id, "a")]);
      expect(both.toSorted()).toEqual(["canceled", "replayed"]);
      expect(await cancel(world, id)).toBe("canceled");
      expect(await withKey(other, "b")).toBe("canceled");
      clock.now += HOUR;
      expect(await withKey(id, "a")).toBe("canceled");
      expect(await withKey(id, "a")).toBe("replayed");
    }),
  );

  test(
    "what is being sent, was sent, or may have left without an answer is too late",
    inWorld(open, async (world) => {
      const { store, sms, settle, claimOne, clock } = world;
      const [id = ""] = await sms();
      const leased = await claimOne();
      expect(await cancel(world, id)).toBe("too_late");
      const unsure = { kind: "unconfirmed", error: { code: "lost", message: "no answer" } } as const;
      await settle(leased, { outcomes: [unsure], next: { kind: "again", dueAt: clock.now + HOUR } });
      expect(await cancel(world, id)).toBe("too_late");
      const [interrupted = ""] = await sms();
      await claimOne();
      await store.queue.stage(clock.now + HOUR, 10);
      expect(await world.status(interrupted)).toBe("queued");
      expect(await cancel(world, interrupted)).toBe("too_late");
      const [waiting = ""] = await sms({ queue: "third" });
      expect(await cancel(world, waiting)).toBe("canceled");
      const [done = ""] = await sms({ queue: "other" });
      await settle((await world.claim(1, "other"))[0]!);
      expect(await cancel(world, done)).toBe("too_late");
    }),
  );

  test(
    "a message that was put off can be canceled, and a settlement that comes too late changes nothing",
    inWorld(open, async (world) => {
      const { sms, settle, claimOne, clock, status } = world;
      const [id = ""] = await sms();
      const job = await claimOne();
      await settle(job, { outcomes: [deferred()], next: { kind: "again", dueAt: clock.now + HOUR } });
      expect(await cancel(world, id)).toBe("canceled");
      expect(await settle(job)).toBe(false);
      expect(await status(id)).toBe("failed");
    }),
  );

  test(
    "of a claim and a cancel at one time, one has the message",
    inWorld(open, async (world) => {
      const ids = await world.sms({ to: Array.from({ length: 20 }, (_, index) => `+91${index}`) });
      const claims = ids.map(() => world.claim(1));
      const cancels = ids.map((id) => cancel(world, id));
      const claimed = new Set((await Promise.all(claims)).flat().map((job) => job.messageId));
      const results = await Promise.all(cancels);
      for (const [index, id] of ids.entries()) {
        expect(results[index]).toBe(claimed.has(id) ? "too_late" : "canceled");
      }
    }),
  );

  test(
    "an email of several envelopes is canceled whole, or not at all",
    inWorld(open, async (world) => {
      const parts = ["a@x.test", "b@y.test"].map((address) => ({ status: "pending", address }) as const);
      const jobs = [
        { queue: "queue-a", parts: [0] },
        { queue: "queue-b", parts: [1] },
      ];
      const whole = await world.email({ parts, jobs });
      expect(await cancel(world, whole, "email")).toBe("canceled");
      expect([...(await world.claim()), ...(await world.claim(1, "queue-b"))]).toEqual([]);
      const begun = await world.email({ parts, jobs });
      await world.settle(await world.claimOne(), { outcomes: [sent("p-1")] });
      expect(await cancel(world, begun, "email")).toBe("too_late");
      expect(await world.claim(1, "queue-b")).toHaveLength(1);
    }),
  );

  test(
    "an email that came back from one recipient had left, and is not canceled for the others",
    inWorld(open, async (world) => {
      const parts = ["a@x.test", "b@x.test"].map((address) => ({ status: "pending", address }) as const);
      const id = await world.email({ parts, jobs: [{ queue: "queue-a" }] });
      const next = { kind: "again", dueAt: world.clock.now + HOUR } as const;
      await world.settle(await world.claimOne(), { outcomes: [sent("p-1"), deferred()], next });
      const target = { messageId: id, part: 0 };
      await world.receive("", {
        target,
        status: "bounced",
        error: { code: "5.1.1", message: "550 unknown" },
      });
      expect(await world.status(id, "email")).toBe("queued");
      expect(await cancel(world, id, "email")).toBe("too_late");
    }),
  );

  test(
    "an email that one recipient may have got, though no answer ever came, is not canceled for the others",
    inWorld(open, async (world) => {
      const { id, first: silent, second: other } = await sendInTwoEnvelopes(world);
      await world.settle(silent, { outcomes: [unconfirmed()], next: { kind: "done", end: "unconfirmed" } });
      const next = { kind: "again", dueAt: world.clock.now + HOUR } as const;
      await world.settle(other, { outcomes: [undefined, deferred()], next });
      expect(await world.status(id, "email")).toBe("queued");
      expect(await cancel(world, id, "email")).toBe("too_late");
    }),
  );

  test(
    "an email one of whose envelopes is put off is not canceled while another one is being sent",
    inWorld(open, async (world) => {
      const { id, first: putOff, second: other } = await sendInTwoEnvelopes(world);
      const dueAt = world.clock.now + HOUR;
      await world.settle(putOff, { outcomes: [deferred()], next: { kind: "again", dueAt } });
      expect(await world.status(id, "email")).toBe("queued");
      expect(await cancel(world, id, "email")).toBe("too_late");
      await world.settle(other, { outcomes: [undefined, deferred()], next: { kind: "again", dueAt } });
      expect(await cancel(world, id, "email")).toBe("canceled");
    }),
  );

  test(
    "another account's message, another channel's and an unknown one are not found",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms({ account: await world.addAccount() });
      const [own = ""] = await world.sms();
      expect(await cancel(world, id)).toBe("not_found");
      expect(await cancel(world, own, "email")).toBe("not_found");
      expect(await cancel(world, world.id())).toBe("not_found");
      expect(await world.claim()).toHaveLength(2);
    }),
  );
}

/** An email to two recipients, each in an envelope of its own. Both are claimed. */
async function sendInTwoEnvelopes(world: World) {
  const parts = ["a@x.test", "b@y.test"].map((address) => ({ status: "pending", address }) as const);
  const jobs = [
    { queue: "queue-a", parts: [0] },
    { queue: "queue-b", parts: [1] },
  ];
  const id = await world.email({ parts, jobs });
  return { id, first: await world.claimOne(), second: (await world.claim(1, "queue-b"))[0]! };
}

function cancel({ store, account, clock }: World, id: string, channel: "sms" | "email" = "sms") {
  return store.messages.cancel({ accountId: account.id, channel, id, now: clock.now });
}
