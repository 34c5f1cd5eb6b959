/** An SMS whose first copy turns out to have been taken, and to have failed, while another is on its way. */
import { expect, test } from "bun:test";
import {
  CONNECTOR,
  deferred,
  inWorld,
  type OpenStore,
  SECOND,
  sent,
  unconfirmed,
  type World,
} from "../world.contract.ts";
import { answerLate, neverAnsweredBy, nextJob, OTHER, tell, triedBy } from "./copies-world.contract.ts";

export function copyTakenMeanwhileContract(open: OpenStore): void {
  /** The first connector has answered too late, and its copy has failed, while the second was sending the message. */
  async function takenAndFailed(world: World, isToldFirst = false) {
    const id = await neverAnsweredBy(world, [CONNECTOR]);
    const job = await nextJob(world);
    const failure = { connectorId: CONNECTOR, status: "undelivered" } as const;
    if (isToldFirst) expect(await tell(world, id, failure)).toMatchObject([{ kind: "late" }]);
    await answerLate(world, id, CONNECTOR);
    if (!isToldFirst)
      expect(await world.receive(`${CONNECTOR} ${id}`, failure)).toMatchObject([{ kind: "late" }]);
    expect(await world.status(id)).toBe("sent");
    return { id, job };
  }

  test(
    "of a message that the first has taken all along, and failed, the second's word is the last, if it takes it or may have",
    inWorld(open, async (world) => {
      for (const isToldFirst of [false, true])
        for (const kind of ["sent", "unconfirmed"] as const)
          for (const status of ["delivered", "undelivered"] as const) {
            const { id, job } = await takenAndFailed(world, isToldFirst);
            const outcome = kind === "sent" ? sent(`b ${id}`) : unconfirmed();
            await world.settle(job, triedBy(world, OTHER, outcome));
            expect(await world.status(id)).toBe("sent");
            if (kind === "sent") await world.receive(`b ${id}`, { connectorId: OTHER, status });
            else await tell(world, id, { connectorId: OTHER, status });
            expect(await world.status(id)).toBe(status);
          }
    }),
  );

  test(
    "if the second has put it off when the first answers, the failure that was told before that answer ends it with the answer",
    inWorld(open, async (world) => {
      const id = await neverAnsweredBy(world, [CONNECTOR]);
      const job = await nextJob(world);
      await tell(world, id, { connectorId: CONNECTOR, status: "undelivered" });
      await world.settle(job, triedBy(world, OTHER, deferred()));
      expect(await world.status(id)).toBe("queued");
      await answerLate(world, id, CONNECTOR);
      expect(await world.status(id)).toBe("undelivered");
      world.clock.now += 120 * SECOND;
      await world.store.queue.stage(world.clock.now, 10);
      expect(await world.claim()).toEqual([]);
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
        const { id, job } = await takenAndFailed(world, outcome === undefined);
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
