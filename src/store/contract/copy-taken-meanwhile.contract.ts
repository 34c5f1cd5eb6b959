/** An SMS whose first copy turns out to have been taken, and to have failed, while another is on its way. */
import { expect, test } from "bun:test";
import { answerLate, neverAnsweredBy, nextJob, OTHER, tell, triedBy } from "./copies-world.contract.ts";
import {
  CONNECTOR,
  deferred,
  inWorld,
  type OpenStore,
  SECOND,
  sent,
  unconfirmed,
  type World,
} from "./world.contract.ts";

export function copyTakenMeanwhileContract(open: OpenStore): void {
  /** The first connector has answered too late, and then failed, while the second was sending the message. */
  async function takenAndFailed(world: World) {
    const id = await neverAnsweredBy(world, [CONNECTOR]);
    const job = await nextJob(world);
    await answerLate(world, id, CONNECTOR);
    expect(await world.receive(`${CONNECTOR} ${id}`, { status: "undelivered" })).toMatchObject([
      { kind: "late" },
    ]);
    expect(await world.status(id)).toBe("sent");
    return { id, job };
  }

  test(
    "of a message that the first has taken all along, and failed, the second's word is the last, if it takes it or may have",
    inWorld(open, async (world) => {
      for (const outcome of [sent("b"), unconfirmed()])
        for (const status of ["delivered", "undelivered"] as const) {
          const { id, job } = await takenAndFailed(world);
          await world.settle(job, triedBy(world, OTHER, outcome));
          expect(await world.status(id)).toBe("sent");
          if (outcome.kind === "sent") await world.receive("b", { connectorId: OTHER, status });
          else await tell(world, id, { connectorId: OTHER, status });
          expect(await world.status(id)).toBe(status);
        }
    }),
  );

  test(
    "where the second does not answer either, the first one's receipt is awaited as before",
    inWorld(open, async (world) => {
      const id = await neverAnsweredBy(world, [CONNECTOR]);
      const job = await nextJob(world);
      await answerLate(world, id, CONNECTOR);
      await world.settle(job, triedBy(world, OTHER, unconfirmed()));
      expect(await world.status(id)).toBe("sent");
      const now = world.clock.now + 7_200 * SECOND;
      await world.store.receipts.flagOverdue({ now, sentBefore: now, limit: 10 });
      const overdue = [{ connectorId: CONNECTOR, parts: 1 }];
      expect(await world.store.receipts.countOverdue()).toEqual(overdue);
    }),
  );

  test(
    "if the second does not take it, it is undelivered, and not sent again",
    inWorld(open, async (world) => {
      for (const outcome of [deferred(), undefined]) {
        const { id, job } = await takenAndFailed(world);
        const { jobId, claim, messageId } = job;
        const { now: at } = world.clock;
        const next = { kind: "again", dueAt: at } as const;
        const unsent = { jobId, claim, messageId, at, countsAsAttempt: false, keepsContent: false };
        if (outcome) await world.settle(job, triedBy(world, OTHER, outcome));
        else await world.store.queue.settle([{ ...unsent, outcomes: [], next }]);
        expect(await world.status(id)).toBe("undelivered");
        world.clock.now += 120 * SECOND;
        await world.store.queue.stage(world.clock.now, 10);
        expect(await world.claim()).toEqual([]);
      }
    }),
  );
}
