import { expect, test } from "bun:test";
import type { Part } from "../../../core/messages/message.ts";
import {
  deferred,
  HOUR,
  inWorld,
  type OpenStore,
  QUEUE,
  SECOND,
  sent,
  unconfirmed,
} from "../world.contract.ts";

const TWO: readonly Part[] = [
  { status: "pending", address: "a@a.test" },
  { status: "pending", address: "b@b.test" },
];

const ONE_EACH = [
  { queue: QUEUE, parts: [0] },
  { queue: QUEUE, parts: [1] },
];

export function stageContract(open: OpenStore): void {
  test(
    "a scheduled message is queued when its time comes, and not before",
    inWorld(open, async ({ store, sms, claim, status, clock }) => {
      const [id = ""] = await sms({ dueAt: clock.now + HOUR });
      expect(await store.queue.nextDueAt()).toBe(clock.now + HOUR);
      expect(await store.queue.stage(clock.now + HOUR - 1, 10)).toBe(0);
      expect(await status(id)).toBe("scheduled");
      expect(await store.queue.stage(clock.now + HOUR, 10)).toBe(1);
      expect(await status(id)).toBe("queued");
      expect((await claim()).map((job) => job.messageId)).toEqual([id]);
    }),
  );

  test(
    "staging moves no more than its limit, the earliest first",
    inWorld(open, async ({ store, sms, clock, status }) => {
      const [later = ""] = await sms({ dueAt: clock.now + 2 });
      const [sooner = ""] = await sms({ dueAt: clock.now + 1 });
      expect(await store.queue.stage(clock.now + HOUR, 1)).toBe(1);
      expect([await status(sooner), await status(later)]).toEqual(["queued", "scheduled"]);
      expect(await store.queue.stage(clock.now + HOUR, 1)).toBe(1);
      expect(await store.queue.stage(clock.now + HOUR, 1)).toBe(0);
    }),
  );

  test(
    "what is due next is told from schedules and leases alike, whichever ends first",
    inWorld(open, async ({ store, sms, claimOne, clock }) => {
      await sms({ dueAt: clock.now + HOUR });
      await sms();
      await claimOne();
      expect(await store.queue.nextDueAt()).toBe(clock.now + 60 * SECOND);
      await sms({ dueAt: clock.now + SECOND });
      expect(await store.queue.nextDueAt()).toBe(clock.now + SECOND);
    }),
  );

  test(
    "a lease that runs out marks its job interrupted, and the message is back in line",
    inWorld(open, async ({ store, sms, claim, claimOne, settle, history, status, clock }) => {
      const [id = ""] = await sms();
      await claimOne();
      expect(await store.queue.nextDueAt()).toBe(clock.now + 60 * SECOND);
      await store.queue.stage(clock.now + 60 * SECOND - 1, 10);
      expect(await claim()).toEqual([]);
      await store.queue.stage(clock.now + 60 * SECOND, 10);
      expect(await status(id)).toBe("queued");
      expect(await history(id)).toEqual(["interrupted:queued"]);
      const again = await claimOne();
      expect(again).toMatchObject({ wasInterrupted: true, claim: 2, attempt: 0 });
      await settle(again, { outcomes: [deferred()], next: { kind: "again", dueAt: clock.now } });
      await store.queue.stage(clock.now, 10);
      expect((await claimOne()).wasInterrupted).toBe(false);
    }),
  );

  test(
    "a job tells how many of its claims were interrupted, and which, if it was one since the last that was settled",
    inWorld(open, async ({ store, sms, claimOne, settle, clock }) => {
      await sms();
      const interrupt = async () => {
        await claimOne();
        clock.now += 60 * SECOND;
        await store.queue.stage(clock.now, 10);
      };
      const told = async () => {
        const job = await claimOne();
        await store.queue.release([job], clock.now);
        return [job.claim, job.interruptions, job.interruptedClaim];
      };
      expect(await told()).toEqual([1, 0, undefined]);
      await interrupt();
      expect(await told()).toEqual([3, 1, 2]);
      expect(await told()).toEqual([4, 1, 2]);
      await interrupt();
      expect(await told()).toEqual([6, 2, undefined]);
      const putOff = { outcomes: [deferred()], next: { kind: "again", dueAt: clock.now } } as const;
      await settle(await claimOne(), putOff);
      await store.queue.stage(clock.now, 10);
      expect(await told()).toEqual([8, 2, undefined]);
      await interrupt();
      expect(await told()).toEqual([10, 3, 9]);
      await interrupt();
      expect(await told()).toEqual([12, 4, undefined]);
    }),
  );

  test(
    "a lease that runs out after a receipt settled its message is told of too: it may have sent it again",
    inWorld(open, async (world) => {
      const { store, sms, claimOne, settle, receive, history, status, clock } = world;
      const [id = ""] = await sms();
      await settle(await claimOne(), {
        outcomes: [unconfirmed()],
        next: { kind: "again", dueAt: clock.now },
      });
      await store.queue.stage(clock.now, 10);
      await claimOne();
      await receive("", { target: { messageId: id, part: 0 }, status: "delivered" });
      await store.queue.stage(clock.now + 60 * SECOND, 10);
      expect(await status(id)).toBe("delivered");
      expect((await history(id)).at(-1)).toBe("interrupted:delivered");
      const again = await claimOne();
      expect([again.progress.status, await status(id)]).toEqual(["delivered", "delivered"]);
      await store.queue.release([again], clock.now);
      expect(await status(id)).toBe("delivered");
    }),
  );

  test(
    "of leases that ran out those of held jobs go on, and hold up nothing else",
    inWorld(open, async ({ store, sms, claim, settle, status, history, clock }) => {
      const [first = "", second = ""] = [...(await sms()), ...(await sms())];
      await sms();
      const [scheduled = ""] = await sms({ dueAt: clock.now + HOUR });
      const [held, other, last] = await claim();
      const now = clock.now + 3 * HOUR;
      // Jobs in flight whose leases have not run out leave no room for more than the limit.
      const sweeper = { inFlight: [held!.jobId, last!.jobId + 1, last!.jobId + 2] };
      expect(await store.queue.stage(now, 1, sweeper)).toBe(1);
      expect(await store.queue.stage(now, 1, sweeper)).toBe(1);
      expect(await store.queue.stage(now, 1, sweeper)).toBe(1);
      expect(await store.queue.stage(now, 1, sweeper)).toBe(0);
      expect([held!.messageId, other!.messageId]).toEqual([first, second]);
      expect([await status(first), await status(second), await status(scheduled)]).toEqual([
        "sending",
        "queued",
        "queued",
      ]);
      expect(await settle(held!)).toBe(true);
      expect(await history(first)).toEqual(["attempt:sent"]);
    }),
  );

  test(
    "a message stays sending where one of its leases is dead and another lives",
    inWorld(open, async ({ store, email, claim, status, clock }) => {
      const id = await email({ parts: TWO, jobs: ONE_EACH });
      await claim(1);
      clock.now += 30 * SECOND;
      await claim(1);
      expect(await store.queue.stage(clock.now + 30 * SECOND, 10)).toBe(1);
      expect(await status(id, "email")).toBe("sending");
      expect(await store.queue.stage(clock.now + 60 * SECOND, 10)).toBe(1);
      expect(await status(id, "email")).toBe("queued");
    }),
  );

  test(
    "a job that expires ends its own recipients, and none that another job covers",
    inWorld(open, async ({ store, email, claim, message, clock }) => {
      const id = await email({ parts: TWO, jobs: ONE_EACH });
      await claim(1);
      expect(await store.queue.expire(clock.now + 48 * HOUR, 10)).toBe(1);
      const { progress } = await message(id, "email");
      expect(progress.parts.map((part) => part.status)).toEqual(["pending", "failed"]);
    }),
  );

  test(
    "a job that expires after its message was settled changes nothing",
    inWorld(open, async ({ store, sms, claimOne, settle, receive, history, status, claim, clock }) => {
      const [id = ""] = await sms();
      const error = { code: "timeout", message: "no answer" };
      await settle(await claimOne(), {
        outcomes: [{ kind: "unconfirmed", error }],
        next: { kind: "again", dueAt: clock.now },
      });
      await store.queue.stage(clock.now, 10);
      // Another attempt, lost, brought home the id; its receipt settles the part.
      const lost = await claimOne();
      await store.queue.stage(clock.now + HOUR, 10);
      const current = await claimOne();
      await settle(lost, { outcomes: [sent("s-1")] });
      await receive("s-1");
      await store.queue.release([current], clock.now);
      const before = await history(id);
      expect(await status(id)).toBe("delivered");
      expect(await store.queue.expire(clock.now + 48 * HOUR, 10)).toBe(1);
      expect(await history(id)).toEqual([...before]);
      expect(await status(id)).toBe("delivered");
      expect(await claim()).toEqual([]);
    }),
  );

  test(
    "an SMS in line expires at the end of its window, and others stay",
    inWorld(open, async ({ store, sms, claim, message, inside, clock }) => {
      const [short = ""] = await sms({ expiresAt: clock.now + SECOND });
      const [long = ""] = await sms({ expiresAt: clock.now + HOUR });
      expect(await store.queue.expire(clock.now + SECOND - 1, 10)).toBe(0);
      expect(await store.queue.expire(clock.now + SECOND, 10)).toBe(1);
      expect((await message(short)).progress).toMatchObject({
        status: "expired",
        error: { code: "expired" },
      });
      expect(await inside.hasBody(short)).toBe(false);
      expect(await store.queue.expire(clock.now + SECOND, 10)).toBe(0);
      expect((await claim()).map((job) => job.messageId)).toEqual([long]);
    }),
  );

  test(
    "what an attempt may have sent that nothing was heard of is failed and says so when its window ends, not expired",
    inWorld(open, async ({ store, sms, email, claim, message, clock }) => {
      const [id = ""] = await sms({ expiresAt: clock.now + 2 * HOUR });
      const mail = await email({ parts: TWO, jobs: ONE_EACH });
      expect(await claim()).toHaveLength(3);
      await store.queue.stage(clock.now + HOUR, 10);
      expect(await store.queue.expire(clock.now + 48 * HOUR, 10)).toBe(3);
      expect((await message(id)).progress).toMatchObject({
        status: "failed",
        error: { code: "unconfirmed" },
      });
      const { progress } = await message(mail, "email");
      expect(progress.parts.map(({ status, error }) => [status, error?.code])).toEqual([
        ["failed", "unconfirmed"],
        ["failed", "unconfirmed"],
      ]);
    }),
  );

  test(
    "expiring visits every flow of every queue, also behind messages that have time left, and moves no more than its limit at a time",
    inWorld(open, async ({ store, sms, addAccount, clock }) => {
      const other = await addAccount();
      for (const queue of ["a", "b", "c"]) {
        await sms({ queue, to: ["+911", "+912", "+913"] });
        await sms({ queue });
        await sms({ queue, account: other });
        await sms({ queue, expiresAt: clock.now + 72 * HOUR });
      }
      const moved = [];
      for (let i = 0; i < 9; i++) moved.push(await store.queue.expire(clock.now + 48 * HOUR, 4));
      expect(moved.slice(0, 4)).toEqual([4, 4, 4, 3]);
      expect(moved.slice(4)).toEqual([0, 0, 0, 0, 0]);
    }),
  );

  test(
    "a job under way does not expire",
    inWorld(open, async ({ store, sms, claimOne, settle, status, clock }) => {
      const [id = ""] = await sms({ expiresAt: clock.now + SECOND });
      const job = await claimOne();
      expect(await store.queue.expire(clock.now + HOUR, 10)).toBe(0);
      await settle(job);
      expect(await status(id)).toBe("sent");
    }),
  );

  test(
    "an email's recipients end bounced where their server had the last word, otherwise failed",
    inWorld(open, async ({ store, email, claimOne, settle, message, clock }) => {
      const parts: Part[] = [
        { status: "pending", address: "a@a.test" },
        { status: "pending", address: "b@b.test" },
      ];
      const id = await email({ parts, jobs: [{ queue: QUEUE }] });
      await settle(await claimOne(), {
        outcomes: [deferred("451"), deferred("connect")],
        next: { kind: "again", dueAt: clock.now },
      });
      await store.queue.stage(clock.now, 10);
      await store.queue.expire(clock.now + 48 * HOUR, 10);
      const { progress } = await message(id, "email");
      expect(progress.parts.map((part) => part.status)).toEqual(["bounced", "failed"]);
      expect(progress.status).toBe("bounced");
    }),
  );
}
