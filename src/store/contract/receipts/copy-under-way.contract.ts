/** An SMS of which one copy has failed while another is on its way, which may be delivered. */
import { expect, test } from "bun:test";
import type { Receipt } from "../../../core/messages/outcome.ts";
import type { Settlement } from "../../../core/queue/claimed-job.ts";
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
import {
  answerLate,
  hear,
  neverAnsweredBy,
  nextJob,
  OTHER,
  TO,
  tell,
  triedBy,
} from "./copies-world.contract.ts";

export function copyUnderWayContract(open: OpenStore): void {
  /** The first copy has failed while the second is on its way. */
  async function failedMeanwhile(world: World, over: Partial<Receipt> = {}) {
    const id = await neverAnsweredBy(world, [CONNECTOR]);
    const job = await nextJob(world);
    const told = await tell(world, id, { connectorId: CONNECTOR, status: "undelivered", ...over });
    expect(told).toMatchObject([{ kind: "late" }]);
    expect(await world.status(id)).toBe("sending");
    return { id, job };
  }

  test(
    "that the first was not delivered does not end the message while another is sending it, which may deliver it",
    inWorld(open, async (world) => {
      for (const status of ["undelivered", "expired", "failed"] as const) {
        const { id, job } = await failedMeanwhile(world, { status });
        await world.settle(job, { connectorId: OTHER, outcomes: [sent(`b ${id}`)] });
        expect(await world.status(id)).toBe("sent");
        await world.receive(`b ${id}`, { connectorId: OTHER });
        expect(await world.status(id)).toBe("delivered");
      }
    }),
  );

  test(
    "that the first was not delivered does not end the message if the other one does not answer either, or puts it off: it is tried again",
    inWorld(open, async (world) => {
      for (const outcome of [unconfirmed(), deferred()]) {
        const { id, job } = await failedMeanwhile(world);
        await world.settle(job, triedBy(world, OTHER, outcome));
        expect(await world.status(id)).toBe("queued");
        await world.settle(await nextJob(world), { connectorId: OTHER, outcomes: [sent(`b ${id}`)] });
        await world.receive(`b ${id}`, { connectorId: OTHER });
        expect(await world.status(id)).toBe("delivered");
      }
    }),
  );

  test(
    "if the same one was sending it again, and does not answer, the message ends by what it told",
    inWorld(open, async (world) => {
      const error = { code: "receipt.undeliv", message: "the SMSC reported UNDELIV, error 27" };
      const { id, job } = await failedMeanwhile(world, { error, raw: "stat:UNDELIV err:27" });
      await world.settle(job, triedBy(world, CONNECTOR, unconfirmed()));
      expect((await world.message(id)).progress).toMatchObject({ status: "undelivered", error });
      const entry = (await world.store.messages.timeline({ id }))?.at(-1);
      expect(entry).toMatchObject({ error, detail: { raw: "stat:UNDELIV err:27" } });
      expect(await world.store.receipts.countParked()).toBe(0);
    }),
  );

  test(
    "if the same one takes it again, under another id, that copy may be delivered too",
    inWorld(open, async (world) => {
      for (const status of ["delivered", "undelivered"] as const) {
        const { id, job } = await failedMeanwhile(world);
        await world.settle(job, { outcomes: [sent(`second ${id}`)] });
        expect(await world.status(id)).toBe("sent");
        await world.receive(`second ${id}`, { status });
        expect(await world.status(id)).toBe(status);
      }
    }),
  );

  test(
    "a failure that came while it was put off counts in the end, where it is not tried again, or nobody claims it in time",
    inWorld(open, async (world) => {
      for (const isGivenUp of [true, false]) {
        const { id, job } = await failedMeanwhile(world);
        const tried = triedBy(world, OTHER, deferred());
        const done = { kind: "done", end: "attempts_spent" } as const;
        await world.settle(job, { ...tried, ...(isGivenUp && { next: done }) });
        expect(await world.status(id)).toBe(isGivenUp ? "undelivered" : "queued");
        world.clock.now += 86_400 * SECOND;
        await world.store.queue.stage(world.clock.now, 10);
        await world.store.queue.expire(world.clock.now, 10);
        expect(await world.status(id)).toBe("undelivered");
        const timeline = await world.store.messages.timeline({
          accountId: world.account.id,
          channel: "sms",
          id,
        });
        expect(timeline?.flatMap(({ eventType = [] }) => eventType)).toEqual(["sms.sent", "sms.undelivered"]);
      }
    }),
  );

  test(
    "a failure that came while another was under way does not count where that attempt was interrupted, which may have sent it",
    inWorld(open, async (world) => {
      const { id } = await failedMeanwhile(world);
      world.clock.now += 2 * DAY;
      await world.store.queue.stage(world.clock.now, 10);
      await world.store.queue.expire(world.clock.now, 10);
      expect((await world.message(id)).progress).toMatchObject({
        status: "failed",
        error: { code: "unconfirmed" },
      });
      expect((await world.history(id)).at(-1)).toBe("late_receipt:failed");
    }),
  );

  test(
    "one that came just before its attempt was interrupted still counts, as that of its own connector only",
    inWorld(open, async (world) => {
      for (const connectorId of [CONNECTOR, OTHER]) {
        const { id } = await failedMeanwhile(world);
        const job = await nextJob(world);
        expect(job.wasInterrupted).toBe(true);
        await world.settle(job, triedBy(world, connectorId, unconfirmed()));
        expect(await world.status(id)).toBe(connectorId === CONNECTOR ? "undelivered" : "queued");
      }
    }),
  );

  test(
    "told again, also in other words, it is kept once, as it was told first",
    inWorld(open, async (world) => {
      const error = { code: "receipt.undeliv", message: "the SMSC reported UNDELIV" };
      const { id, job } = await failedMeanwhile(world, { error });
      for (const status of ["undelivered", "failed"] as const)
        await tell(world, id, { connectorId: CONNECTOR, status });
      await world.settle(job, { connectorId: OTHER, outcomes: [sent(`b ${id}`)] });
      expect(await world.history(id)).toEqual(["attempt:queued", "attempt:sent", "late_receipt:sent"]);
      const entry = (await world.store.messages.timeline({ id }))?.at(-1);
      expect(entry).toMatchObject({ error, detail: { receipt_status: "undelivered" } });
      expect(await world.store.receipts.countParked()).toBe(0);
    }),
  );

  test(
    "its id is known from then on: that it was delivered after all counts, told by the id alone",
    inWorld(open, async (world) => {
      const { id } = await failedMeanwhile(world);
      expect(await hear(world, id, CONNECTOR, "delivered")).toEqual([{ kind: "applied", messageId: id }]);
      expect(await world.status(id)).toBe("delivered");
    }),
  );

  test(
    "a message that is held, and that nobody is sending, ends at once by what its connector tells",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms({ to: [TO] });
      const next = { kind: "held", dueAt: world.clock.now + 3_600 * SECOND } as const;
      await world.settle(await world.claimOne(), { outcomes: [unconfirmed()], next });
      await tell(world, id, { connectorId: CONNECTOR, status: "undelivered" });
      expect(await world.status(id)).toBe("undelivered");
    }),
  );

  test(
    "a failure that came before its attempt was given up, and held, does not wait where the account has ceased to hold",
    inWorld(open, async (world) => {
      const { account, store } = world;
      const [id = ""] = await world.sms({ to: [TO] });
      await world.settle(await world.claimOne(), triedBy(world, CONNECTOR, deferred()));
      await store.records.setSettings(account.id, { on_unconfirmed: "hold" });
      const job = await nextJob(world);
      const told = await tell(world, id, { connectorId: CONNECTOR, status: "undelivered" });
      expect(told).toMatchObject([{ kind: "parked" }]);
      await store.records.setSettings(account.id, { on_unconfirmed: "resend" });
      const next = { kind: "held", dueAt: world.clock.now + DAY } as const;
      await world.settle(job, { ...triedBy(world, CONNECTOR, unconfirmed()), next });
      expect(await world.status(id)).toBe("undelivered");
    }),
  );

  test(
    "a failure of an interrupted message does not wait whose account holds it: it is claimed only to be held, and ends by what is told",
    inWorld(open, async (world) => {
      await world.store.records.setSettings(world.account.id, { on_unconfirmed: "hold" });
      const [id = ""] = await world.sms({ to: [TO] });
      const slow = await world.claimOne();
      const job = await nextJob(world);
      await world.settle(slow, { outcomes: [sent("a-0")] });
      expect(await world.receive("a-0", { status: "undelivered" })).toMatchObject([{ kind: "applied" }]);
      const { jobId, claim, messageId } = job;
      const held = { countsAsAttempt: false, keepsContent: false, outcomes: [unconfirmed()] };
      const next = { kind: "held", dueAt: world.clock.now + 3_600 * SECOND } as const;
      await world.store.queue.settle([{ jobId, claim, messageId, at: world.clock.now, ...held, next }]);
      expect(await world.status(id)).toBe("undelivered");
      world.clock.now += 7_200 * SECOND;
      await world.store.queue.stage(world.clock.now, 10);
      expect(await world.claim()).toEqual([]);
    }),
  );

  test(
    "an id that came after the lease had ended is that of an earlier copy as well",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms({ to: [TO] });
      const slow = await world.claimOne();
      const job = await nextJob(world);
      expect(await world.settle(slow, { outcomes: [sent("a-0")] })).toBe(false);
      expect(await world.receive("a-0", { status: "undelivered" })).toMatchObject([{ kind: "late" }]);
      await world.settle(job, { connectorId: OTHER, outcomes: [sent("b-0")] });
      await world.receive("b-0", { connectorId: OTHER });
      expect(await world.status(id)).toBe("delivered");
    }),
  );

  test(
    "a failure that came before the id that it is told of does not end a message if that comes while another is under way",
    inWorld(open, async (world) => {
      const answer = {
        "too late": async () => {
          const id = await neverAnsweredBy(world, [CONNECTOR]);
          const early = { recipient: TO, status: "undelivered" } as const;
          expect(await world.receive(`${CONNECTOR} ${id}`, early)).toEqual([{ kind: "parked" }]);
          const job = await nextJob(world);
          await answerLate(world, id, CONNECTOR);
          return { id, job };
        },
        "after its lease had ended": async () => {
          const [id = ""] = await world.sms({ to: [TO] });
          const slow = await world.claimOne();
          await world.receive(`a ${id}`, { status: "undelivered" });
          const job = await nextJob(world);
          expect(await world.settle(slow, { outcomes: [sent(`a ${id}`)] })).toBe(false);
          return { id, job };
        },
      };
      for (const comes of Object.values(answer))
        for (const isTaken of [true, false]) {
          const { id, job } = await comes();
          expect(["sending", "sent"]).toContain(await world.status(id));
          const outcome = isTaken ? sent(`b ${id}`) : deferred();
          await world.settle(job, {
            connectorId: OTHER,
            outcomes: [outcome],
            next: { kind: "done", end: "attempts_spent" },
          });
          if (isTaken) await world.receive(`b ${id}`, { connectorId: OTHER });
          expect(await world.status(id)).toBe(isTaken ? "delivered" : "undelivered");
          expect(await world.store.receipts.countParked()).toBe(0);
        }
    }),
  );

  test(
    "it counts at once, for its own copy, where the attempt that was under way is settled together with the one whose lease had ended",
    inWorld(open, async (world) => {
      for (const isFirst of [true, false]) {
        const [id = ""] = await world.sms({ to: [TO] });
        const slow = await world.claimOne();
        await world.receive(`a ${id}`, { status: "undelivered" });
        const job = await nextJob(world);
        const settlements = [job, slow].map(
          ({ jobId, claim }): Settlement => ({
            jobId,
            claim,
            messageId: id,
            at: world.clock.now,
            connectorId: CONNECTOR,
            countsAsAttempt: true,
            keepsContent: false,
            next: { kind: "done" },
            outcomes: [sent(claim === slow.claim ? `a ${id}` : `again ${id}`)],
          }),
        );
        await world.store.queue.settle(isFirst ? settlements : settlements.toReversed());
        expect(await world.store.receipts.countParked()).toBe(0);
        expect(await world.status(id)).toBe("sent");
        await world.receive(`again ${id}`, { status: "undelivered" });
        expect(await world.status(id)).toBe("undelivered");
      }
    }),
  );
}
