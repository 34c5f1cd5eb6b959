/** What an attempt has sent is known though its lease was lost: it is not sent again, and its copy may be delivered. */
import { expect, test } from "bun:test";
import type { ClaimedJob } from "../../../core/queue/claimed-job.ts";
import { nextJob, OTHER, TO } from "../receipts/copies-world.contract.ts";
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

/** A message whose first attempt, `slow`, has lost its lease to `job`. */
async function takenOver(world: World): Promise<{ id: string; slow: ClaimedJob; job: ClaimedJob }> {
  const [id = ""] = await world.sms({ to: [TO] });
  const slow = await world.claimOne();
  return { id, slow, job: await nextJob(world) };
}

async function laterJobs({ clock, store, claim }: World): Promise<readonly ClaimedJob[]> {
  clock.now += HOUR;
  await store.queue.stage(clock.now, 10);
  return claim();
}

export function lostSettleContract(open: OpenStore): void {
  test(
    "what was sent without a lease is not sent again, whether its message is in line or waits",
    inWorld(open, async (world) => {
      const { settle, clock, status, history, inside } = world;
      const again = { kind: "again", dueAt: clock.now + HOUR } as const;
      const held = { kind: "held", dueAt: clock.now + HOUR } as const;
      const steps = {
        "put off": (job: ClaimedJob) => settle(job, { outcomes: [deferred()], next: again }),
        held: (job: ClaimedJob) => settle(job, { outcomes: [unconfirmed()], next: held }),
        released: (job: ClaimedJob) => world.store.queue.release([job], clock.now),
      };
      for (const step of Object.values(steps)) {
        const { id, slow, job } = await takenOver(world);
        await step(job);
        expect(await settle(slow, { outcomes: [sent(`a ${id}`)] })).toBe(false);
        expect(await status(id)).toBe("sent");
        expect((await history(id)).at(-1)).toBe("lost_settle:sent");
        expect(await inside.hasBody(id)).toBe(false);
        expect(await laterJobs(world)).toEqual([]);
      }
    }),
  );

  test(
    "what was sent without a lease is not sent once more where it is being sent again, and that attempt puts it off, is refused or not answered",
    inWorld(open, async (world) => {
      const again = { kind: "again", dueAt: world.clock.now } as const;
      const refused = { kind: "rejected", error: { code: "smpp.0x0000000b", message: "no" } } as const;
      for (const outcome of [deferred(), refused, unconfirmed()]) {
        const { id, slow, job } = await takenOver(world);
        await world.settle(slow, { outcomes: [sent(`a ${id}`)] });
        await world.settle(job, { connectorId: OTHER, outcomes: [outcome], next: again });
        expect(await world.status(id)).toBe("sent");
        expect(await laterJobs(world)).toEqual([]);
        await world.receive(`a ${id}`);
        expect(await world.status(id)).toBe("delivered");
      }
    }),
  );

  test(
    "where the later attempt has sent it as well, that one copy was not delivered decides nothing",
    inWorld(open, async (world) => {
      for (const connectorId of [OTHER, CONNECTOR])
        for (const failsFirst of ["a", "b"]) {
          const { id, slow, job } = await takenOver(world);
          await world.settle(slow, { outcomes: [sent(`a ${id}`)] });
          await world.settle(job, { connectorId, outcomes: [sent(`b ${id}`)] });
          const hear = (copy: string, status: "undelivered" | "delivered") =>
            world.receive(`${copy} ${id}`, { connectorId: copy === "a" ? CONNECTOR : connectorId, status });
          await hear(failsFirst, "undelivered");
          expect(await world.status(id)).toBe("sent");
          await hear(failsFirst === "a" ? "b" : "a", "delivered");
          expect(await world.status(id)).toBe("delivered");
        }
    }),
  );

  test(
    "of two segments only the one that was not sent is tried again",
    inWorld(open, async (world) => {
      const { id, slow, job } = await takenOver(world);
      const again = { kind: "again", dueAt: world.clock.now } as const;
      await world.settle(job, { outcomes: [deferred(), deferred()], next: again });
      await world.settle(slow, { outcomes: [sent("a-0"), unconfirmed()], next: again });
      expect(await world.status(id)).toBe("queued");
      const [next] = await laterJobs(world);
      expect(next?.progress.parts).toMatchObject([
        { status: "sent", providerMessageId: "a-0" },
        { status: "pending" },
      ]);
    }),
  );

  test(
    "of an email the recipients that it was handed over for are told of, as sent or delivered, and the others are tried again",
    inWorld(open, async (world) => {
      const parts = ["ann", "bob", "eve"].map((name) => ({
        address: `${name}@example.net`,
        status: "pending" as const,
      }));
      const id = await world.email({ parts, jobs: [{ queue: QUEUE }] });
      const slow = await world.claimOne();
      const job = await nextJob(world);
      const again = { kind: "again", dueAt: world.clock.now } as const;
      await world.settle(slow, {
        outcomes: [sent("m-0"), { kind: "sent", providerMessageIds: [], delivered: true }, deferred("4.2.2")],
        next: again,
      });
      expect(await world.history(id, "email")).toEqual([
        "interrupted:queued",
        "lost_settle:sending",
        "status:sent",
        "status:delivered",
      ]);
      await world.settle(job, { outcomes: [undefined, undefined, deferred("4.2.2")], next: again });
      const [next] = await laterJobs(world);
      expect(next?.progress.parts).toMatchObject([
        { status: "sent" },
        { status: "delivered" },
        { status: "pending" },
      ]);
    }),
  );

  test(
    "what was not sent, or may have been, moves nothing, and a final state holds",
    inWorld(open, async (world) => {
      for (const outcome of [deferred(), unconfirmed(), undefined]) {
        const { id, slow, job } = await takenOver(world);
        await world.settle(slow, { outcomes: [outcome] });
        expect(await world.status(id)).toBe("sending");
        await world.settle(job);
      }
      const { id, slow, job } = await takenOver(world);
      await world.settle(job, { outcomes: [unconfirmed()], next: { kind: "done", end: "window_over" } });
      await world.settle(slow, { outcomes: [sent(`a ${id}`)] });
      expect(await world.status(id)).toBe("failed");
      world.clock.now += SECOND;
      expect(await world.receive(`a ${id}`)).toMatchObject([{ kind: "late", messageId: id }]);
    }),
  );

  test(
    "what is held for the sake of an attempt that turns out not to have sent it fails at once, or is tried again",
    inWorld(open, async (world) => {
      const { store, clock, settle, status } = world;
      await store.records.setSettings(world.account.id, { on_unconfirmed: "hold" });
      const next = { kind: "held", dueAt: clock.now + HOUR } as const;
      const doubt = { ...unconfirmed(), leftUnder: 1 } as const;
      const refused = { kind: "rejected", error: { code: "smpp.0x0000000b", message: "no" } } as const;
      const busy = { kind: "deferred", error: { code: "smpp.0x00000058", message: "throttled" } } as const;
      for (const [outcome, then] of [
        [refused, "failed"],
        [busy, "queued"],
      ] as const) {
        const { id, slow, job } = await takenOver(world);
        const refuse = () =>
          store.receipts.recordLateRefusal(
            { messageId: id, connectorId: CONNECTOR, part: 0, claim: slow.claim, outcome },
            clock.now,
          );
        expect(await refuse()).toBe(false);
        const { jobId, claim, messageId } = job;
        const unsent = { at: clock.now, countsAsAttempt: false, keepsContent: false };
        const outcomes = [doubt, doubt];
        await store.queue.settle([{ ...unsent, jobId, claim, messageId, outcomes, next }]);
        await settle(slow, { outcomes: [outcome, undefined] });
        expect(await refuse()).toBe(true);
        expect(await status(id)).toBe(then);
      }
      const [again] = await laterJobs(world);
      expect(again).toMatchObject({ claim: 3, wasInterrupted: false });
      expect(again?.progress.parts).toMatchObject([
        { status: "pending" },
        { status: "unconfirmed", claim: 1 },
      ]);
    }),
  );

  test(
    "what was counted as more segments while it was held than the attempt turns out to have made is delivered, or tried again, as that many",
    inWorld(open, async (world) => {
      await world.store.records.setSettings(world.account.id, { on_unconfirmed: "hold" });
      const inDoubt = async () => {
        const { id, slow, job } = await takenOver(world);
        const doubt = { ...unconfirmed(), leftUnder: slow.claim };
        const { jobId, claim } = job;
        const unsent = { at: world.clock.now, countsAsAttempt: false, keepsContent: false };
        const next = { kind: "held", dueAt: world.clock.now + HOUR } as const;
        const outcomes = [doubt, doubt];
        await world.store.queue.settle([{ ...unsent, jobId, claim, messageId: id, outcomes, next }]);
        return { id, slow };
      };
      const taken = await inDoubt();
      await world.settle(taken.slow, { outcomes: [sent("a-0")] });
      expect(await world.status(taken.id)).toBe("sent");
      await world.receive("a-0");
      expect(await world.status(taken.id)).toBe("delivered");

      const busy = await inDoubt();
      const outcome = { kind: "deferred", error: { code: "http.429", message: "busy" } } as const;
      await world.settle(busy.slow, { outcomes: [outcome] });
      const { claim } = busy.slow;
      const refusal = { messageId: busy.id, connectorId: CONNECTOR, part: 0, claim, outcome };
      await world.store.receipts.recordLateRefusal(refusal, world.clock.now);
      const [again] = await laterJobs(world);
      expect(again?.progress.parts).toMatchObject([{ status: "pending" }]);
    }),
  );
}
