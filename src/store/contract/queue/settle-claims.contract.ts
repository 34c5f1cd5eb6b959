import { expect, test } from "bun:test";
import { CONNECTOR, deferred, HOUR, inWorld, type OpenStore, SECOND, sent } from "../world.contract.ts";

/** Which claims prove a lease, and what is left of a settlement whose claim does not. */
export function settleClaimsContract(open: OpenStore): void {
  test(
    "a settlement whose claim is not the latest ends no attempt, and keeps what the provider said",
    inWorld(open, async ({ store, sms, claimOne, settle, history, receive, status, clock }) => {
      const [id = ""] = await sms();
      const lost = await claimOne();
      await store.queue.stage(clock.now + HOUR, 10);
      const current = await claimOne();
      expect(await settle(lost, { outcomes: [sent("lost-1")] })).toBe(false);
      expect(await history(id)).toEqual(["interrupted:queued", "lost_settle:sent"]);
      expect(await settle(current, { outcomes: [sent("p-2")] })).toBe(true);
      expect(await settle(current, { outcomes: [sent("p-3")] })).toBe(false);
      expect(await receive("lost-1")).toEqual([{ kind: "applied", messageId: id }]);
      expect(await status(id)).toBe("delivered");
    }),
  );

  test(
    "a settlement whose claim is not the latest ends no attempt where an earlier one has counted the segments: one that is sent is sent, and others stay as they are",
    inWorld(open, async ({ store, sms, claimOne, settle, message, receive, clock }) => {
      const [id = ""] = await sms();
      const next = { kind: "again", dueAt: clock.now } as const;
      await settle(await claimOne(), { outcomes: [deferred(), deferred()], next });
      await store.queue.stage(clock.now, 10);
      const lost = await claimOne();
      await store.queue.stage(clock.now + HOUR, 10);
      await claimOne();
      await settle(lost, { outcomes: [sent("lost-1"), deferred()] });
      expect((await message(id)).progress).toMatchObject({
        status: "sending",
        parts: [{ status: "sent" }, { status: "pending" }],
      });
      expect(await receive("lost-1")).toEqual([{ kind: "applied", messageId: id }]);
    }),
  );

  test(
    "a settlement that comes too late leaves a message in line that is back there",
    inWorld(open, async ({ store, sms, claimOne, settle, status, history, clock }) => {
      const [id = ""] = await sms();
      const lost = await claimOne();
      await store.queue.stage(clock.now + HOUR, 10);
      await claimOne();
      await store.queue.stage(clock.now + HOUR, 10);
      expect(await settle(lost, { outcomes: [deferred()] })).toBe(false);
      expect(await status(id)).toBe("queued");
      expect((await history(id)).at(-1)).toBe("lost_settle:queued");
    }),
  );

  test(
    "a settlement under the number of another message's job moves neither",
    inWorld(open, async ({ sms, claim, settle, status, clock }) => {
      const [, other = ""] = await sms({ to: ["+911", "+912"] });
      const [first, second] = await claim();
      const again = { kind: "again", dueAt: clock.now } as const;
      for (const next of [{ kind: "done" } as const, again]) {
        expect(await settle({ ...first!, messageId: other }, { outcomes: [], next })).toBe(false);
      }
      expect(await status(other)).toBe("sending");
      expect([await settle(first!), await settle(second!)]).toEqual([true, true]);
    }),
  );

  test(
    "a lease that ran out is still proved by the latest claim",
    inWorld(open, async ({ store, sms, claim, claimOne, settle, status, clock }) => {
      const [id = ""] = await sms();
      const job = await claimOne();
      await store.queue.stage(clock.now + HOUR, 10);
      expect(await settle(job)).toBe(true);
      expect(await status(id)).toBe("sent");
      expect(await claim()).toEqual([]);
    }),
  );

  test(
    "of two settlements of one claim in one call the first counts, and what the other says is kept",
    inWorld(open, async ({ store, sms, claimOne, clock, history, receive, message }) => {
      const [id = ""] = await sms();
      const { jobId, claim } = await claimOne();
      const settlement = {
        jobId,
        claim,
        messageId: id,
        at: clock.now,
        connectorId: CONNECTOR,
        countsAsAttempt: true,
        keepsContent: false,
        next: { kind: "done" } as const,
      };
      const both = ["first", "second"].map((name) => ({ ...settlement, outcomes: [sent(name)] }));
      expect(await store.queue.settle(both)).toEqual([true, false]);
      expect((await message(id)).progress.parts).toMatchObject([{ providerMessageId: "first" }]);
      expect(await history(id)).toEqual(["attempt:sent", "lost_settle:sent"]);
      expect(await receive("second")).toEqual([{ kind: "applied", messageId: id }]);
    }),
  );

  test(
    "a settlement that is repeated, since nobody knew whether it was stored, counts once",
    inWorld(open, async ({ store, sms, claimOne, settle, history, clock }) => {
      const [id = ""] = await sms();
      const job = await claimOne();
      const next = { kind: "again", dueAt: clock.now + SECOND } as const;
      const settlement = { outcomes: [deferred()], next };
      expect([await settle(job, settlement), await settle(job, settlement)]).toEqual([true, false]);
      expect(await settle(job, { outcomes: [deferred()] })).toBe(false);
      await store.queue.stage(clock.now + SECOND, 10);
      expect(await settle(job, settlement)).toBe(false);
      expect(await history(id)).toEqual(["attempt:queued", ...Array(3).fill("lost_settle:queued")]);
      expect(await claimOne()).toMatchObject({ claim: 2, attempt: 1, wasInterrupted: false });
    }),
  );

  test(
    "of two settlements of one claim in one call the first counts, also where the message is tried again",
    inWorld(open, async ({ store, sms, claimOne, clock, history }) => {
      const [id = ""] = await sms();
      const { jobId, claim } = await claimOne();
      const settlement = {
        jobId,
        claim,
        messageId: id,
        at: clock.now,
        connectorId: CONNECTOR,
        countsAsAttempt: true,
        keepsContent: false,
        outcomes: [deferred()],
        next: { kind: "again", dueAt: clock.now } as const,
      };
      expect(await store.queue.settle([settlement, settlement])).toEqual([true, false]);
      await store.queue.stage(clock.now, 10);
      expect(await history(id)).toEqual(["attempt:queued", "lost_settle:queued"]);
      expect(await claimOne()).toMatchObject({ attempt: 1 });
    }),
  );

  test(
    "of two attempts that are settled in one call with one id, a receipt that was parked goes to the one that holds its lease",
    inWorld(open, async ({ store, sms, claim, claimOne, settle, receive, status, history, clock }) => {
      const [ended = ""] = await sms();
      const lost = await claimOne();
      await store.queue.stage(clock.now + HOUR, 10);
      await settle(await claimOne(), { outcomes: [sent("other")] });
      await receive("other", { status: "undelivered" });
      const before = await history(ended);
      const [id = ""] = await sms();
      await receive("same");
      const settled = [lost, ...(await claim())].map(({ jobId, claim, messageId }) => ({
        jobId,
        claim,
        messageId,
        at: clock.now,
        connectorId: CONNECTOR,
        countsAsAttempt: true,
        keepsContent: false,
        next: { kind: "done" } as const,
        outcomes: [sent("same")],
      }));
      expect(await store.queue.settle(settled)).toEqual([false, true]);
      expect(await status(id)).toBe("delivered");
      expect(await history(ended)).toEqual([...before, "lost_settle:undelivered"]);
    }),
  );
}
