/** Releases that come after their lease has run out: nothing was handed over, so nothing is in doubt for their sake. */
import { expect, test } from "bun:test";
import type { ClaimedJob } from "../../../core/queue/claimed-job.ts";
import { nextJob } from "../receipts/copies-world.contract.ts";
import {
  CONNECTOR,
  deferred,
  HOUR,
  inWorld,
  type OpenStore,
  QUEUE,
  SECOND,
  sent,
  unconfirmed,
  type World,
} from "../world.contract.ts";

/** Claims the one job, and lets the lease run out. */
async function interrupted(world: World): Promise<ClaimedJob> {
  const job = await world.claimOne();
  world.clock.now += 60 * SECOND;
  await world.store.queue.stage(world.clock.now, 10);
  return job;
}

const release = ({ store, clock }: World, job: ClaimedJob) => store.queue.release([job], clock.now);

const NOT_SENT = { code: "not_sent", message: "the attempt had handed nothing over" };

/** The attempt under this job's claim says that it has handed nothing over. */
const tellUnsent = (
  { store, clock }: World,
  { messageId, jobId, claim }: ClaimedJob,
  of: { readonly part?: number } = {},
) =>
  store.receipts.recordLateRefusal(
    {
      messageId,
      jobId,
      connectorId: CONNECTOR,
      claim,
      ...of,
      outcome: { kind: "deferred", error: NOT_SENT },
    },
    clock.now,
  );

/** Holds the job's message: each of two segments, or recipients of the job, is in doubt, for the attempt under that claim. */
async function hold({ store, clock }: World, job: ClaimedJob, leftUnder: number): Promise<void> {
  const { jobId, claim, messageId, parts = [0, 1], expiresAt: dueAt } = job;
  const doubt = { ...unconfirmed(), leftUnder } as const;
  const outcomes = [0, 1].map((part) => (parts.includes(part) ? doubt : undefined));
  const unsent = { at: clock.now, countsAsAttempt: false, keepsContent: false };
  await store.queue.settle([{ ...unsent, jobId, claim, messageId, outcomes, next: { kind: "held", dueAt } }]);
}

export function lateReleaseContract(open: OpenStore): void {
  test(
    "until another claim a release counts as if it had come in time: the message expires, in no doubt, where it is not sent",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms();
      const job = await interrupted(world);
      expect(await release(world, job)).toEqual([true]);
      expect(await world.history(id)).toEqual(["interrupted:queued", "late_answer:queued"]);
      const { store, account } = world;
      const timeline = await store.messages.timeline({ accountId: account.id, channel: "sms", id });
      expect(timeline?.at(-1)?.error).toEqual(NOT_SENT);
      const again = await world.claimOne();
      expect(again).toMatchObject({ claim: 2, wasInterrupted: false, interruptions: 0 });
      expect(await release(world, again)).toEqual([true]);
      await store.queue.expire(world.clock.now + 48 * HOUR, 10);
      expect(await world.status(id)).toBe("expired");
    }),
  );

  test(
    "what was in doubt before its claim stays so",
    inWorld(open, async (world) => {
      await world.sms();
      const first = await interrupted(world);
      const second = await interrupted(world);
      expect(await release(world, second)).toEqual([true]);
      expect(await release(world, second)).toEqual([false]);
      expect(await release(world, first)).toEqual([false]);
      const third = await world.claimOne();
      expect(third).toMatchObject({ wasInterrupted: true, interruptions: 1, interruptedClaim: 1 });
      await world.settle(third, { outcomes: [deferred()], next: { kind: "again", dueAt: world.clock.now } });
      await world.store.queue.stage(world.clock.now, 10);
      const fourth = await interrupted(world);
      expect(await release(world, fourth)).toEqual([true]);
      expect(await world.claimOne()).toMatchObject({ wasInterrupted: false, interruptions: 1 });
    }),
  );

  test(
    "several are released at once, each as it is; one that another has claimed stays with that",
    inWorld(open, async (world) => {
      const [one = ""] = await world.sms();
      const late = await interrupted(world);
      const [other = ""] = await world.sms();
      const jobs = await world.claim();
      const [taken, fresh] = [one, other].map((id) => jobs.find(({ messageId }) => messageId === id));
      expect(await world.store.queue.release([fresh!, late], world.clock.now)).toEqual([true, false]);
      expect([await world.status(one), await world.status(other)]).toEqual(["sending", "queued"]);
      expect(await world.settle(taken!)).toBe(true);
    }),
  );

  test(
    "a release that comes late is about its own job alone, and about nothing once that is settled",
    inWorld(open, async (world) => {
      const [, other = ""] = await world.sms({ to: ["+911", "+912"] });
      const [one, two] = await world.claim();
      world.clock.now += 60 * SECOND;
      await world.store.queue.stage(world.clock.now, 10);
      expect(await release(world, one!)).toEqual([true]);
      const again = await world.claim();
      expect(again.map(({ wasInterrupted }) => wasInterrupted)).toEqual([false, true]);
      expect((await world.history(other)).at(-1)).toBe("interrupted:queued");
      await world.store.queue.release(again, world.clock.now);

      await world.store.queue.expire(world.clock.now + 48 * HOUR, 10);
      const [id = ""] = await world.sms();
      const job = await interrupted(world);
      await world.settle(job, { outcomes: [deferred()], next: { kind: "again", dueAt: world.clock.now } });
      expect(await release(world, job)).toEqual([false]);
      expect(await world.history(id)).toEqual(["interrupted:queued", "attempt:queued"]);
      expect(await release(world, two!)).toEqual([false]);
    }),
  );

  test(
    "what is held for the sake of an attempt that had not begun is tried again, all of it",
    inWorld(open, async (world) => {
      await world.store.records.setSettings(world.account.id, { on_unconfirmed: "hold" });
      const [id = ""] = await world.sms();
      const slow = await world.claimOne();
      const job = await nextJob(world);
      expect(await release(world, slow)).toEqual([false]);
      expect(await tellUnsent(world, slow)).toBe(false);
      await hold(world, job, slow.claim);
      expect(await tellUnsent(world, job)).toBe(true);
      expect(await world.status(id)).toBe("sending");
      expect(await tellUnsent(world, slow)).toBe(true);
      expect(await world.status(id)).toBe("queued");
      expect((await world.history(id)).slice(-2)).toEqual(["late_answer:sending", "late_answer:queued"]);
      world.clock.now += 5 * SECOND;
      await world.store.queue.stage(world.clock.now, 10);
      const again = await world.claimOne();
      expect(again).toMatchObject({ claim: 3, attempt: 0, wasInterrupted: false });
      expect(again.progress.parts).toMatchObject([{ status: "pending" }, { status: "pending" }]);
    }),
  );

  test(
    "of an email the recipients of that attempt's job are tried again, and no others",
    inWorld(open, async (world) => {
      await world.store.records.setSettings(world.account.id, { on_unconfirmed: "hold" });
      const parts = ["a@a.test", "b@b.test"].map((address) => ({ status: "pending", address }) as const);
      const jobs = parts.map((_, part) => ({ queue: QUEUE, parts: [part] }));
      for (const { one, other, of } of [
        { one: 0, other: 1, of: {} },
        { one: 1, other: 0, of: {} },
        { one: 0, other: 1, of: { part: 0 } },
        { one: 1, other: 0, of: { part: 1 } },
      ]) {
        const id = await world.email({ parts, jobs });
        const slow = await world.claim();
        world.clock.now += 60 * SECOND;
        await world.store.queue.stage(world.clock.now, 10);
        for (const job of await world.claim()) await hold(world, job, 1);
        expect(await tellUnsent(world, slow[one]!, of)).toBe(true);
        world.clock.now += 60 * SECOND;
        await world.store.queue.stage(world.clock.now, 10);
        const again = await world.claimOne();
        expect(again).toMatchObject({ messageId: id, claim: 3, parts: [one] });
        expect(again.progress.parts[one]).toMatchObject(parts[one]!);
        expect(again.progress.parts[other]).toMatchObject({ ...parts[other], status: "unconfirmed" });
        const outcomes = parts.map((_, part) => (part === one ? sent(`${id} ${one}`) : undefined));
        await world.settle(again, { outcomes });
        await tellUnsent(world, slow[other]!);
        world.clock.now += 60 * SECOND;
        await world.store.queue.stage(world.clock.now, 10);
        expect(await world.claimOne()).toMatchObject({ messageId: id, claim: 3, parts: [other] });
      }
    }),
  );

  test(
    "the recipient of a job that alone is in doubt for the sake of that attempt is tried again, where another one has been sent before",
    inWorld(open, async (world) => {
      await world.store.records.setSettings(world.account.id, { on_unconfirmed: "hold" });
      const parts = ["a@a.test", "b@b.test"].map((address) => ({ status: "pending", address }) as const);
      await world.email({ parts, jobs: [{ queue: QUEUE }] });
      const again = { kind: "again", dueAt: world.clock.now } as const;
      await world.settle(await world.claimOne(), { outcomes: [sent("a-1"), deferred()], next: again });
      const slow = await nextJob(world);
      await hold(world, { ...(await nextJob(world)), parts: [1] }, slow.claim);
      expect(await tellUnsent(world, slow)).toBe(true);
      world.clock.now += HOUR;
      await world.store.queue.stage(world.clock.now, 10);
      const { progress } = await world.claimOne();
      expect(progress.parts).toMatchObject([{ status: "sent" }, { status: "pending" }]);
    }),
  );

  test(
    "nothing of it is where another attempt may have sent it, or it is over",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms();
      const slow = await world.claimOne();
      const job = await nextJob(world);
      await world.settle(job, {
        outcomes: [unconfirmed()],
        next: { kind: "held", dueAt: world.clock.now + HOUR },
      });
      expect(await tellUnsent(world, slow)).toBe(true);
      expect(await world.status(id)).toBe("sending");
      await world.receive("", { target: { messageId: id, part: 0 }, status: "delivered" });
      expect(await tellUnsent(world, slow)).toBe(true);
      expect([await world.status(id), (await world.history(id)).at(-1)]).toEqual([
        "delivered",
        "late_answer:delivered",
      ]);
    }),
  );
}
