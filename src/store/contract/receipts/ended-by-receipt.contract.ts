/** Messages that a receipt ends while their job waits, or while it is worked on. */
import { expect, test } from "bun:test";
import type { PartOutcome } from "../../../core/messages/outcome.ts";
import type { NextStep } from "../../../core/messages/progress.ts";
import {
  DAY,
  deferred,
  inWorld,
  type OpenStore,
  SECOND,
  sent,
  unconfirmed,
  type World,
} from "../world.contract.ts";

/** A message of which the provider has taken the first segment, as `a`. */
async function sentInPart(world: World, rest: PartOutcome, kind: "again" | "held"): Promise<string> {
  const { sms, claimOne, settle, clock } = world;
  const [id = ""] = await sms();
  const next: NextStep = { kind, dueAt: clock.now + (kind === "held" ? DAY : 5 * SECOND) };
  await settle(await claimOne(), { outcomes: [sent("a"), rest], next });
  return id;
}

async function rejectFirst({ receive }: World): Promise<void> {
  const error = { code: "receipt.rejectd", message: "rejected" };
  await receive("a", { status: "failed", error });
}

/** Every job that becomes ready until all windows have ended. */
async function laterJobs({ clock, store, claim }: World) {
  clock.now += 2 * DAY;
  await store.queue.stage(clock.now, 10);
  return claim();
}

export function endedByReceiptContract(open: OpenStore): void {
  test.each([
    ["again", "queued", deferred()],
    ["held", "sending", unconfirmed()],
  ] as const)(
    "a message that waits (%s) has ended with its job and its body once a receipt says that a segment was rejected",
    (kind, before, rest) =>
      inWorld(open, async (world) => {
        const id = await sentInPart(world, rest, kind);
        expect([await world.status(id), await world.inside.hasBody(id)]).toEqual([before, true]);
        await rejectFirst(world);
        expect([await world.status(id), await world.inside.hasBody(id)]).toEqual(["failed", false]);
        expect(await laterJobs(world)).toEqual([]);
        expect(await world.history(id)).toEqual([`attempt:${before}`, "receipt:failed"]);
      })(),
  );

  test(
    "one whose id was known without an answer is delivered likewise",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, clock, receive, status, inside } = world;
      const [id = ""] = await sms();
      const lost = { ...unconfirmed(), providerMessageIds: ["a"] } as PartOutcome;
      await settle(await claimOne(), { outcomes: [lost], next: { kind: "held", dueAt: clock.now + DAY } });
      await receive("a");
      expect([await status(id), await inside.hasBody(id)]).toEqual(["delivered", false]);
      expect(await laterJobs(world)).toEqual([]);
    }),
  );

  test(
    "an email whose last recipient a receipt settles has ended with its job and its body",
    inWorld(open, async (world) => {
      const { email, claimOne, settle, clock, receive, status, inside } = world;
      const parts = ["a@a.test", "b@b.test"].map((address) => ({ status: "pending" as const, address }));
      const id = await email({ parts, jobs: [{ queue: "queue-a" }] });
      const next = { kind: "again", dueAt: clock.now + DAY } as const;
      await settle(await claimOne(), { outcomes: [sent("a"), deferred("4.2.0")], next });
      await receive("", { target: { messageId: id, part: 0 } });
      expect([await status(id, "email"), await inside.hasBody(id)]).toEqual(["queued", true]);
      await receive("", { target: { messageId: id, part: 1 } });
      expect([await status(id, "email"), await inside.hasBody(id)]).toEqual(["delivered", false]);
      expect(await laterJobs(world)).toEqual([]);
    }),
  );

  test(
    "an attempt that is under way keeps its job and its body, and what it has sent is known",
    inWorld(open, async (world) => {
      const { settle, claimOne, clock, store, receive, status, history, inside } = world;
      const id = await sentInPart(world, deferred(), "again");
      clock.now += 5 * SECOND;
      await store.queue.stage(clock.now, 10);
      const job = await claimOne();
      await rejectFirst(world);
      expect([await status(id), await inside.hasBody(id)]).toEqual(["failed", true]);
      const next = { kind: "again", dueAt: clock.now + SECOND } as const;
      expect(await settle(job, { outcomes: [undefined, sent("b")], next })).toBe(true);
      expect([await status(id), await inside.hasBody(id)]).toEqual(["failed", false]);
      expect(await receive("b")).toEqual([{ kind: "applied", messageId: id }]);
      expect(await laterJobs(world)).toEqual([]);
      expect(await history(id)).toEqual([
        "attempt:queued",
        "receipt:failed",
        "attempt:failed",
        "receipt:failed",
      ]);
    }),
  );

  test(
    "an attempt at some recipients of an email keeps its job and its body while another job of it waits, which ends",
    inWorld(open, async (world) => {
      const { email, claim, claimOne, settle, clock, receive, status, inside } = world;
      const parts = ["a@a.test", "b@b.test"].map((address) => ({ status: "pending" as const, address }));
      const jobs = ["queue-a", "queue-b"].map((queue, part) => ({ queue, parts: [part] }));
      const id = await email({ parts, jobs });
      const next = { kind: "again", dueAt: clock.now + DAY } as const;
      await settle(await claimOne(), { outcomes: [deferred("4.2.0")], next });
      const [job] = await claim(1, "queue-b");
      for (const part of [0, 1]) await receive("", { target: { messageId: id, part } });
      expect([await status(id, "email"), await inside.hasBody(id)]).toEqual(["delivered", true]);
      expect(await settle(job!, { outcomes: [undefined, sent("b")] })).toBe(true);
      expect([await status(id, "email"), await inside.hasBody(id)]).toEqual(["delivered", false]);
      expect(await laterJobs(world)).toEqual([]);
    }),
  );

  test(
    "where that attempt is never settled, job and body end with the window",
    inWorld(open, async (world) => {
      const { claimOne, clock, store, status, inside } = world;
      const id = await sentInPart(world, deferred(), "again");
      clock.now += 5 * SECOND;
      await store.queue.stage(clock.now, 10);
      await claimOne();
      await rejectFirst(world);
      clock.now += 2 * DAY;
      await store.queue.stage(clock.now, 10);
      expect(await store.queue.expire(clock.now, 10)).toBe(1);
      expect([await status(id), await inside.hasBody(id)]).toEqual(["failed", false]);
    }),
  );

  test(
    "an account that keeps bodies keeps this one too",
    inWorld(open, async (world) => {
      await world.store.records.setSettings(world.account.id, { keep_bodies: "true" });
      const id = await sentInPart(world, unconfirmed(), "held");
      await rejectFirst(world);
      expect([await world.status(id), await world.inside.hasBody(id)]).toEqual(["failed", true]);
      expect(await laterJobs(world)).toEqual([]);
    }),
  );
}
