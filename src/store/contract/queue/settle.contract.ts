import { expect, test } from "bun:test";
import type { Part } from "../../../core/messages/message.ts";
import {
  CONNECTOR,
  deferred,
  HOUR,
  inWorld,
  type OpenStore,
  QUEUE,
  SECOND,
  SMS,
  sent,
} from "../world.contract.ts";

const TWO: readonly Part[] = [
  { status: "pending", address: "a@a.test" },
  { status: "pending", address: "b@b.test" },
];

export function settleContract(open: OpenStore): void {
  test(
    "a sent message is sent, its job is gone, and its timeline says how",
    inWorld(open, async ({ store, account, sms, claim, claimOne, settle, message, clock }) => {
      const [id = ""] = await sms();
      expect(await settle(await claimOne(), { detail: { encoding: "gsm7", segments: 1 } })).toBe(true);
      const { progress } = await message(id);
      expect(progress).toMatchObject({ status: "sent", sequence: 1 });
      expect(progress.parts).toEqual([
        { status: "sent", connectorId: CONNECTOR, providerMessageId: `p-${id}` },
      ]);
      expect(await store.messages.timeline({ accountId: account.id, channel: "sms", id })).toEqual([
        {
          position: 1,
          at: clock.now,
          kind: "attempt",
          status: "sent",
          sequence: 1,
          eventType: "sms.sent",
          detail: { connector: CONNECTOR, encoding: "gsm7", segments: 1 },
        },
      ]);
      expect(await claim()).toEqual([]);
      expect(await store.queue.nextDueAt()).toBeUndefined();
    }),
  );

  test(
    "a deferred message waits until its time, and the attempt is counted where it counts",
    inWorld(open, async ({ store, sms, claim, claimOne, settle, message, clock }) => {
      const [id = ""] = await sms();
      const again = { outcomes: [deferred()], next: { kind: "again", dueAt: clock.now + SECOND } } as const;
      await settle(await claimOne(), { ...again, countsAsAttempt: false });
      expect((await message(id)).progress).toMatchObject({
        status: "queued",
        parts: [{ status: "pending" }],
      });
      expect(await claim()).toEqual([]);
      expect(await store.queue.nextDueAt()).toBe(clock.now + SECOND);
      await store.queue.stage(clock.now + SECOND, 10);
      const second = await claimOne();
      expect(second).toMatchObject({ attempt: 0, claim: 2, wasInterrupted: false });
      await settle(second, again);
      await store.queue.stage(clock.now + SECOND, 10);
      expect(await claimOne()).toMatchObject({ attempt: 1, claim: 3 });
    }),
  );

  test(
    "a held message stays sending until its window ends",
    inWorld(open, async ({ store, sms, claim, claimOne, settle, status, clock }) => {
      const [id = ""] = await sms({ expiresAt: clock.now + HOUR });
      const error = { code: "timeout", message: "no answer" };
      await settle(await claimOne(), {
        outcomes: [{ kind: "unconfirmed", error }],
        next: { kind: "held", dueAt: clock.now + HOUR },
      });
      expect(await status(id)).toBe("sending");
      await store.queue.stage(clock.now + HOUR - 1, 10);
      expect(await claim()).toEqual([]);
    }),
  );

  test(
    "settlements of one call are answered one by one, in order",
    inWorld(open, async ({ store, sms, claim, clock }) => {
      await sms({ to: ["+911", "+912", "+913"] });
      const jobs = await claim();
      const settlements = jobs.map((job, index) => ({
        jobId: job.jobId,
        claim: index === 1 ? job.claim + 1 : job.claim,
        messageId: job.messageId,
        at: clock.now,
        countsAsAttempt: true,
        outcomes: [],
        next: { kind: "done", end: "window_over" } as const,
        keepsContent: false,
      }));
      expect(await store.queue.settle(settlements)).toEqual([true, false, true]);
      expect(await store.queue.settle([])).toEqual([]);
    }),
  );

  test(
    "whichever job of an email ends first ends alone, and is not claimed again",
    inWorld(open, async ({ email, claim, settle, message }) => {
      for (const at of [0, 1]) {
        for (const next of [{ kind: "done" }, { kind: "done", end: "attempts_spent" }] as const) {
          const jobs = [0, 1].map((part) => ({ queue: QUEUE, parts: [part] }));
          const id = await email({ parts: TWO, jobs });
          const claimed = await claim();
          const sentTo = (part: number) =>
            [0, 1].map((each) => (each === part ? sent(`q-${id}`) : undefined));
          expect(await settle(claimed[at]!, { outcomes: sentTo(at), next })).toBe(true);
          const { parts } = (await message(id, "email")).progress;
          expect([parts[at]?.status, parts[1 - at]?.status]).toEqual(["sent", "pending"]);
          expect(await claim()).toEqual([]);
          expect(await settle(claimed[1 - at]!, { outcomes: sentTo(1 - at) })).toBe(true);
        }
      }
    }),
  );

  test(
    "the jobs of an email end each for its own recipients",
    inWorld(open, async ({ email, claim, settle, message, store, account }) => {
      const id = await email({
        parts: TWO,
        jobs: [
          { queue: QUEUE, parts: [0] },
          { queue: QUEUE, parts: [1] },
        ],
      });
      const [first, second] = await claim();
      await settle(first!, { outcomes: [deferred("451")], next: { kind: "done", end: "attempts_spent" } });
      expect((await message(id, "email")).progress).toMatchObject({
        status: "sending",
        parts: [{ status: "bounced" }, { status: "pending" }],
      });
      await settle(second!, { outcomes: [undefined, sent("q-1")] });
      expect((await message(id, "email")).progress).toMatchObject({
        status: "bounced",
        parts: [{ status: "bounced" }, { status: "sent" }],
      });
      const entries = await store.messages.timeline({ accountId: account.id, channel: "email", id });
      expect(
        entries?.filter((entry) => entry.eventType).map((entry) => [entry.eventType, entry.recipient]),
      ).toEqual([
        ["email.bounced", "a@a.test"],
        ["email.sent", "b@b.test"],
      ]);
    }),
  );

  test(
    "a job whose message was settled while it was leased is handed out once the lease has run out, and ends without an attempt",
    inWorld(open, async ({ store, sms, claim, claimOne, settle, status, receive, clock }) => {
      const [id = ""] = await sms();
      await settle(await claimOne(), {
        outcomes: [sent("s-1"), deferred()],
        next: { kind: "again", dueAt: clock.now },
      });
      await store.queue.stage(clock.now, 10);
      await claimOne();
      await receive("s-1", { status: "failed" });
      clock.now += 60 * SECOND;
      await store.queue.stage(clock.now, 10);
      const job = await claimOne();
      await settle(job, { outcomes: [undefined, sent("s-2")] });
      expect(await status(id)).toBe("failed");
      expect(await claim()).toEqual([]);
    }),
  );

  test(
    "the text of a single message is wiped when no attempt can need it, and not before",
    inWorld(open, async ({ store, sms, claimOne, settle, clock, message, inside }) => {
      const [id = ""] = await sms();
      await settle(await claimOne(), { outcomes: [deferred()], next: { kind: "again", dueAt: clock.now } });
      await store.queue.stage(clock.now, 10);
      const job = await claimOne();
      expect(job.content).toEqual(SMS);
      await settle(job);
      expect(await inside.hasBody(id)).toBe(false);
      expect((await message(id)).content).toMatchObject({ templateId: "t-1", tags: ["otp"] });
    }),
  );

  test(
    "the text stays where the account keeps it",
    inWorld(open, async ({ sms, claimOne, settle, inside }) => {
      const [id = ""] = await sms();
      await settle(await claimOne(), { keepsContent: true });
      expect(await inside.hasBody(id)).toBe(true);
    }),
  );
}
