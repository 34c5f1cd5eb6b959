/** An SMS of several segments that are sent again, while something is told of one of them. */
import { expect, test } from "bun:test";
import type { PartOutcome, Receipt } from "../../../core/messages/outcome.ts";
import { partReference } from "../../../core/receipts/short-reference.ts";
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
import { nextJob, OTHER, TO, triedBy } from "./copies-world.contract.ts";

export function segmentsUnderWayContract(open: OpenStore): void {
  /**
   * Two segments that have not been answered: while another connector sends both again, the answer to the first comes. `isKnown`: the
   * id of the second is known without an answer.
   */
  async function answeredMeanwhile(world: World, isKnown = false) {
    const [id = ""] = await world.sms();
    const silent = triedBy(world, CONNECTOR, unconfirmed());
    const second = isKnown ? { ...unconfirmed(), providerMessageIds: [`a-1 ${id}`] } : unconfirmed();
    const outcomes = [unconfirmed(), second as PartOutcome];
    await world.settle(await world.claimOne(), { ...silent, outcomes });
    const job = await nextJob(world);
    await answerLate(world, id, 0);
    expect(await world.status(id)).toBe("sending");
    return { id, job };
  }

  const answerLate = (world: World, messageId: string, part: number) =>
    world.store.receipts.recordLateAnswer(
      { connectorId: CONNECTOR, messageId, part, parts: 2, providerMessageIds: [`a-${part} ${messageId}`] },
      world.clock.now,
    );

  const fail = (world: World, id: string, status: Receipt["status"]) =>
    world.receive(`a-0 ${id}`, { status });

  test(
    "that a segment failed that has been answered meanwhile does not end a message that another connector is sending again",
    inWorld(open, async (world) => {
      for (const status of ["failed", "undelivered"] as const) {
        const { id, job } = await answeredMeanwhile(world);
        expect(await fail(world, id, status)).toMatchObject([{ kind: "late" }]);
        expect(await world.status(id)).toBe("sending");
        const outcomes = [sent(`b-0 ${id}`), sent(`b-1 ${id}`)];
        await world.settle(job, { connectorId: OTHER, outcomes });
        expect(await world.status(id)).toBe("sent");
        // It is told of the one segment.
        const told = await world.history(id);
        expect(told.filter((entry) => entry.startsWith("late_receipt"))).toHaveLength(1);
        for (const part of [0, 1]) await world.receive(`b-${part} ${id}`, { connectorId: OTHER });
        expect(await world.status(id)).toBe("delivered");
      }
    }),
  );

  test(
    "it does once the other has not taken it, or is sending the rest only",
    inWorld(open, async (world) => {
      for (const isBefore of [true, false]) {
        const { id, job } = await answeredMeanwhile(world);
        if (isBefore) await fail(world, id, "failed");
        const put = { ...triedBy(world, OTHER, deferred()), outcomes: [deferred(), deferred()] };
        await world.settle(job, put);
        expect(await world.status(id)).toBe(isBefore ? "failed" : "queued");
        if (isBefore) continue;
        await nextJob(world);
        await fail(world, id, "failed");
        expect(await world.status(id)).toBe("failed");
      }
    }),
  );

  test(
    "it does as well where that attempt was interrupted, and what is heard of the rest leaves nothing to be sent",
    inWorld(open, async (world) => {
      const heard = {
        "a receipt": (id: string) =>
          world.receive(`a-1 ${id}`, { recipient: TO, reference: partReference(id, 1) }),
        "a late answer": (id: string) => answerLate(world, id, 1),
        "a known id": (id: string) => world.receive(`a-1 ${id}`),
      };
      for (const [what, hear] of Object.entries(heard))
        for (const status of ["failed", "undelivered"] as const) {
          const { id } = await answeredMeanwhile(world, what === "a known id");
          await fail(world, id, status);
          world.clock.now += 120 * SECOND;
          await world.store.queue.stage(world.clock.now, 10);
          expect(await world.status(id)).toBe("queued");
          await hear(id);
          await world.receive(`a-1 ${id}`);
          expect(await world.status(id)).toBe(status);
          await world.store.queue.stage(world.clock.now, 10);
          expect(await world.claim()).toEqual([]);
        }
    }),
  );

  test(
    "it does not while the other is still sending it, whatever is heard of the rest",
    inWorld(open, async (world) => {
      for (const isKnown of [true, false]) {
        const { id, job } = await answeredMeanwhile(world, isKnown);
        await fail(world, id, "failed");
        if (!isKnown) await answerLate(world, id, 1);
        await world.receive(`a-1 ${id}`);
        expect(await world.status(id)).toBe("sent");
        const outcomes = [sent(`b-0 ${id}`), sent(`b-1 ${id}`)];
        await world.settle(job, { connectorId: OTHER, outcomes });
        await world.receive(`b-0 ${id}`, { connectorId: OTHER });
        expect(await world.status(id)).toBe("delivered");
      }
    }),
  );

  test(
    "it does not while that segment is to be tried again, whatever is heard of the rest",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms({ to: [TO] });
      const silent = triedBy(world, CONNECTOR, unconfirmed());
      await world.settle(await world.claimOne(), { ...silent, outcomes: [unconfirmed(), unconfirmed()] });
      const job = await nextJob(world);
      const say = (part: number, status: Receipt["status"]) =>
        world.receive(`a-${part} ${id}`, { recipient: TO, reference: partReference(id, part), status });
      await say(0, "failed");
      const put = triedBy(world, OTHER, deferred());
      await world.settle(job, { ...put, outcomes: [deferred(), deferred()] });
      await say(1, "delivered");
      expect(await world.status(id)).toBe("queued");
      const again = await nextJob(world);
      await world.settle(again, { connectorId: OTHER, outcomes: [sent(`b-0 ${id}`), undefined] });
      await world.receive(`b-0 ${id}`, { connectorId: OTHER });
      expect(await world.status(id)).toBe("delivered");
    }),
  );

  test(
    "a failed segment that is not being sent again ends the message though another of it is being sent",
    inWorld(open, async (world) => {
      for (const isLate of [true, false]) {
        const [id = ""] = await world.sms();
        const outcomes = [isLate ? unconfirmed() : sent(`a-0 ${id}`), unconfirmed()];
        const tried = triedBy(world, CONNECTOR, unconfirmed());
        await world.settle(await world.claimOne(), { ...tried, outcomes });
        if (isLate) await answerLate(world, id, 0);
        const job = await nextJob(world);
        await answerLate(world, id, 1);
        await fail(world, id, "failed");
        expect(await world.status(id)).toBe("failed");
        await world.settle(job, { ...tried, outcomes: [undefined, deferred()] });
      }
    }),
  );
}
