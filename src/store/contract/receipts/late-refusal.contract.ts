/** Refusals that come after their attempt was given up. */
import { expect, test } from "bun:test";
import type { PartOutcome } from "../../../core/messages/outcome.ts";
import type { NextStep } from "../../../core/messages/progress.ts";
import type { ClaimedJob } from "../../../core/queue/claimed-job.ts";
import type { LateRefusal } from "../../../core/receipts/late-answer.ts";
import {
  CONNECTOR,
  DAY,
  deferred,
  inWorld,
  type OpenStore,
  SECOND,
  sent,
  unconfirmed,
  type World,
} from "../world.contract.ts";

const rejected = {
  kind: "rejected",
  error: { code: "smpp.0x0000000b", message: "invalid destination" },
} as const;
const busy = {
  kind: "deferred",
  error: { code: "smpp.0x00000064", message: "temporary error" },
} as const;

function refuse(
  { store, clock }: World,
  { messageId, claim }: Pick<ClaimedJob, "messageId" | "claim">,
  over: Partial<LateRefusal> = {},
): Promise<boolean> {
  const refusal = { connectorId: CONNECTOR, messageId, part: 0, claim, outcome: rejected };
  return store.receipts.recordLateRefusal({ ...refusal, ...over }, clock.now);
}

const hold = ({ store, account }: World) => store.records.setSettings(account.id, { on_unconfirmed: "hold" });

/** One attempt, with its outcomes. */
async function attempt(world: World, outcomes: readonly (PartOutcome | undefined)[], next: NextStep["kind"]) {
  const job = await world.claimOne();
  await world.settle(job, { outcomes, next: nextStep(world, next) });
  return job;
}

function nextStep({ clock }: World, kind: NextStep["kind"]): NextStep {
  return kind === "done" ? { kind } : { kind, dueAt: clock.now + (kind === "held" ? DAY : 5 * SECOND) };
}

/** Every job that becomes ready within the time. */
async function jobsWithin({ clock, store, claim }: World, ms: number) {
  clock.now += ms;
  await store.queue.stage(clock.now, 10);
  return claim();
}

const errorOf = async (world: World, id: string) => (await world.message(id)).progress.error?.code;

export function lateRefusalContract(open: OpenStore): void {
  test.each(["held", "again"] as const)(
    "a message that waits (%s) has failed at once, with the provider's error, and nothing is left to do for it",
    (next) =>
      inWorld(open, async (world) => {
        const [id = ""] = await world.sms();
        const job = await attempt(world, [unconfirmed()], next);
        expect(await refuse(world, job)).toBe(true);
        expect([await world.status(id), await errorOf(world, id)]).toEqual(["failed", rejected.error.code]);
        expect(await world.inside.hasBody(id)).toBe(false);
        expect(await jobsWithin(world, 2 * DAY)).toEqual([]);
        const { store, account } = world;
        const timeline = await store.messages.timeline({ accountId: account.id, channel: "sms", id });
        expect(timeline?.at(-1)).toMatchObject({
          kind: "late_answer",
          eventType: "sms.failed",
          error: rejected.error,
          detail: { connector: CONNECTOR, part: 0 },
        });
      })(),
  );

  test(
    "so has one of which another segment was taken, or is not answered either",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms();
      const job = await attempt(world, [sent("a"), unconfirmed(), unconfirmed()], "held");
      await refuse(world, job, { part: 1 });
      expect(await world.status(id)).toBe("failed");
      const { progress } = await world.message(id);
      expect(progress.parts.map(({ status }) => status)).toEqual(["sent", "failed", "unconfirmed"]);
      await refuse(world, job, { part: 2 });
      await world.receive("a");
      expect(await world.history(id)).toEqual([
        "attempt:sending",
        "late_answer:failed",
        "late_answer:failed",
        "receipt:failed",
      ]);
    }),
  );

  test(
    "a held message that was refused for now is tried again, as its retry policy says, and only that segment",
    inWorld(open, async (world) => {
      await hold(world);
      const [id = ""] = await world.sms();
      const job = await attempt(world, [sent("a"), unconfirmed(), unconfirmed()], "held");
      await refuse(world, job, { part: 1, outcome: busy });
      expect(await world.status(id)).toBe("queued");
      expect(await jobsWithin(world, 4 * SECOND)).toEqual([]);
      const [again] = await jobsWithin(world, SECOND);
      expect(again).toMatchObject({ messageId: id, attempt: 1, wasInterrupted: false });
      expect(again?.progress.parts).toMatchObject([
        { status: "sent" },
        { status: "pending", error: busy.error },
        { status: "unconfirmed" },
      ]);
      expect(again?.progress.parts[1]?.connectorId).toBeUndefined();
    }),
  );

  test(
    "it waits as long as the provider asks, and is over once its attempts are spent",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms();
      let job = await attempt(world, [unconfirmed()], "held");
      await refuse(world, job, { outcome: { ...busy, retryAfterMs: 30 * SECOND } });
      expect(await jobsWithin(world, 29 * SECOND)).toEqual([]);
      for (let tries = 2; tries <= 20; tries++) {
        expect(await world.status(id)).toBe("queued");
        world.clock.now += 600 * SECOND;
        await world.store.queue.stage(world.clock.now, 10);
        job = await attempt(world, [unconfirmed()], "held");
        expect(await refuse(world, job, { outcome: busy })).toBe(true);
      }
      expect([await world.status(id), await errorOf(world, id)]).toEqual(["failed", busy.error.code]);
      expect(await world.inside.hasBody(id)).toBe(false);
      expect(await jobsWithin(world, 2 * DAY)).toEqual([]);
    }),
  );

  test(
    "one that waits for its retry keeps its time, and has not left: it can be canceled",
    inWorld(open, async (world) => {
      const { sms, status, account, store, clock } = world;
      const [id = ""] = await sms();
      const cancel = () =>
        store.messages.cancel({ accountId: account.id, channel: "sms", id, now: clock.now });
      const job = await attempt(world, [unconfirmed()], "again");
      expect(await cancel()).toBe("too_late");
      await refuse(world, job, { outcome: { ...busy, retryAfterMs: 60 * SECOND } });
      expect(await status(id)).toBe("queued");
      expect(await jobsWithin(world, 4 * SECOND)).toEqual([]);
      expect(await cancel()).toBe("canceled");
      expect(await jobsWithin(world, DAY)).toEqual([]);
    }),
  );

  test(
    "where its window has just ended, a held message has expired, since it was not sent",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms();
      const job = await attempt(world, [unconfirmed()], "held");
      world.clock.now += DAY;
      await world.store.queue.stage(world.clock.now, 10);
      await refuse(world, job, { outcome: busy });
      await world.store.queue.expire(world.clock.now, 10);
      expect(await world.status(id)).toBe("expired");
    }),
  );

  test(
    "a segment that is being sent again, or was, is not affected",
    inWorld(open, async (world) => {
      const { sms, settle, status, history, clock } = world;
      const [id = ""] = await sms();
      const first = await attempt(world, [unconfirmed()], "again");
      const [second] = await jobsWithin(world, 5 * SECOND);
      expect(await refuse(world, first)).toBe(false);
      expect(await refuse(world, first, { outcome: busy })).toBe(false);
      const next = { kind: "again", dueAt: clock.now + SECOND } as const;
      await settle(second!, { outcomes: [unconfirmed()], next });
      // Both may have sent it now, so that neither refusal says that nobody has it.
      for (const job of [first, second!])
        for (const outcome of [rejected, busy]) expect(await refuse(world, job, { outcome })).toBe(true);
      expect(await status(id)).toBe("queued");
      const [third] = await jobsWithin(world, SECOND);
      expect(third?.progress.parts).toMatchObject([{ status: "unconfirmed" }]);
      await settle(third!, { outcomes: [sent("c")] });
      await refuse(world, first);
      expect(await status(id)).toBe("sent");
      expect((await history(id)).filter((entry) => entry.startsWith("late_answer"))).toEqual([
        ...Array(4).fill("late_answer:queued"),
        "late_answer:sent",
      ]);
    }),
  );

  test(
    "an attempt that only put the segment off does not hide the one before",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms();
      const first = await attempt(world, [unconfirmed()], "again");
      const [second] = await jobsWithin(world, 5 * SECOND);
      await world.settle(second!, { outcomes: [deferred()], next: nextStep(world, "again") });
      await refuse(world, second!);
      expect(await world.status(id)).toBe("queued");
      await refuse(world, first);
      expect(await world.status(id)).toBe("failed");
    }),
  );

  test(
    "where the account holds, a rejection counts while other segments are sent, and what is sent of them is known",
    inWorld(open, async (world) => {
      await hold(world);
      const { sms, settle, status, receive, clock } = world;
      const [id = ""] = await sms();
      const first = await attempt(world, [unconfirmed(), deferred()], "again");
      const [second] = await jobsWithin(world, 5 * SECOND);
      expect(await refuse(world, first, { outcome: busy })).toBe(false);
      expect(await refuse(world, first)).toBe(true);
      expect(await status(id)).toBe("failed");
      const next = { kind: "held", dueAt: clock.now + DAY } as const;
      expect(await settle(second!, { outcomes: [undefined, sent("b")], next })).toBe(true);
      expect(await receive("b")).toEqual([{ kind: "applied", messageId: id }]);
      expect(await world.inside.hasBody(id)).toBe(false);
      expect(await jobsWithin(world, 2 * DAY)).toEqual([]);
    }),
  );

  test(
    "it comes too early before its attempt is settled, and says nothing of one that was interrupted",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, status, clock } = world;
      const [id = ""] = await sms();
      const job = await claimOne();
      expect(await refuse(world, job)).toBe(false);
      const [again] = await jobsWithin(world, 60 * SECOND);
      const lost = { ...unconfirmed(), mayHaveLeft: true } as PartOutcome;
      await settle(again!, { outcomes: [lost], next: { kind: "held", dueAt: clock.now + DAY } });
      for (const each of [job, again!]) expect(await refuse(world, each)).toBe(true);
      expect(await status(id)).toBe("sending");
    }),
  );

  test(
    "for a message that is over, or gone, it is only noted, or nothing",
    inWorld(open, async (world) => {
      const { sms, status, history, id: newId } = world;
      const [id = ""] = await sms();
      const job = await attempt(world, [unconfirmed()], "held");
      await refuse(world, job);
      expect(await refuse(world, job, { outcome: busy })).toBe(true);
      expect(await status(id)).toBe("failed");
      expect(await history(id)).toEqual(["attempt:sending", "late_answer:failed", "late_answer:failed"]);
      expect(await refuse(world, { messageId: newId(), claim: 1 })).toBe(true);
    }),
  );
}
