/** A report by our id that a copy was not delivered, which comes while another connector is sending the message again. */
import { expect, test } from "bun:test";
import type { PartOutcome } from "../../../core/messages/outcome.ts";
import { partReference } from "../../../core/receipts/short-reference.ts";
import {
  CONNECTOR,
  DAY,
  deferred,
  HOUR,
  inWorld,
  type OpenStore,
  sent,
  unconfirmed,
  type World,
} from "../world.contract.ts";
import { nextJob, OTHER, THIRD, TO, triedBy } from "./copies-world.contract.ts";

export function ownIdUnderWayContract(open: OpenStore): void {
  /** The first connector's attempt came to `first`; its report comes while the second is sending the message. */
  async function toldMeanwhile(world: World, first: readonly PartOutcome[]) {
    const [id = ""] = await world.sms();
    const tried = triedBy(world, CONNECTOR, deferred());
    await world.settle(await world.claimOne(), { ...tried, outcomes: first });
    const job = await nextJob(world);
    const told = await world.receive(id, { isOwnId: true, status: "undelivered" });
    expect(told).toEqual([{ kind: "parked" }]);
    expect(await world.status(id)).toBe("sending");
    return { id, job };
  }

  test(
    "where connectors share receipts, one that comes over another connector stays parked until the attempt is over",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms({ to: [TO] });
      const lost = { ...unconfirmed("http.no_answer"), providerMessageIds: [id] };
      await world.settle(await world.claimOne(), triedBy(world, OTHER, lost));
      const job = await nextJob(world);
      const told = { isOwnId: true, status: "undelivered", recipient: TO } as const;
      expect(await world.receive(id, told)).toEqual([{ kind: "parked" }]);
      expect(await world.receive(id, { ...told, alsoOf: [OTHER] })).toEqual([{ kind: "parked" }]);
      expect(await world.store.receipts.countParked()).toBe(1);
      await world.settle(job, { ...triedBy(world, THIRD, deferred()), ...spent });
      expect(await world.status(id)).toBe("undelivered");
    }),
  );

  test(
    "that a message is on its way says nothing by our id alone, and is parked",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms({ to: [TO] });
      await world.settle(await world.claimOne(), triedBy(world, CONNECTOR, unconfirmed()));
      const onItsWay = { isOwnId: true, status: "sent" } as const;
      expect(await world.receive(id, onItsWay)).toEqual([{ kind: "parked" }]);
      const job = await nextJob(world);
      expect(await world.receive(id, onItsWay)).toEqual([{ kind: "parked" }]);
      expect(await world.status(id)).toBe("sending");
      await world.settle(job, { connectorId: OTHER, outcomes: [sent("b")] });
      expect(await world.receive(id, onItsWay)).toEqual([{ kind: "parked" }]);
      expect(await world.status(id)).toBe("sent");
    }),
  );

  test(
    "what is not known to be our id says nothing, though it is spelled like it",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms({ to: [TO] });
      await world.settle(await world.claimOne(), triedBy(world, CONNECTOR, unconfirmed()));
      for (const status of ["delivered", "undelivered"] as const)
        expect(await world.receive(id, { status, recipient: TO })).toEqual([{ kind: "parked" }]);
      expect(await world.status(id)).toBe("queued");
    }),
  );

  test(
    "of a message that the provider had put off, that it was delivered counts, and that it was not does not",
    inWorld(open, async (world) => {
      for (const [status, end] of [
        ["delivered", "delivered"],
        ["undelivered", "queued"],
      ] as const) {
        const [id = ""] = await world.sms({ to: [TO] });
        await world.settle(await world.claimOne(), triedBy(world, CONNECTOR, deferred()));
        await world.receive(id, { isOwnId: true, status });
        expect(await world.status(id)).toBe(end);
      }
    }),
  );

  test(
    "of a try that was never answered, that it was not delivered ends the message at once, held or in line again",
    inWorld(open, async (world) => {
      for (const kind of ["held", "again"] as const) {
        const [id = ""] = await world.sms({ to: [TO] });
        const next = { kind, dueAt: world.clock.now + HOUR };
        await world.settle(await world.claimOne(), { outcomes: [unconfirmed()], next });
        const told = await world.receive(id, { isOwnId: true, status: "undelivered" });
        expect(told).toEqual([{ kind: "applied", messageId: id }]);
        expect(await world.status(id)).toBe("undelivered");
      }
    }),
  );

  test(
    "that a try that was interrupted was not delivered ends the message, also where an earlier one has counted its segments",
    inWorld(open, async (world) => {
      for (const isCounted of [false, true]) {
        const [id = ""] = await world.sms({ to: [TO] });
        const first = await world.claimOne();
        if (isCounted) {
          await nextJob(world);
          const outcomes = [deferred(), deferred()];
          expect(await world.settle(first, { ...triedBy(world, CONNECTOR, deferred()), outcomes })).toBe(
            false,
          );
        }
        world.clock.now += HOUR;
        await world.store.queue.stage(world.clock.now, 10);
        expect(await world.status(id)).toBe("queued");
        const told = await world.receive(id, { isOwnId: true, status: "undelivered" });
        expect(told).toEqual([{ kind: "applied", messageId: id }]);
        expect(await world.status(id)).toBe("undelivered");
        expect(await world.claim()).toEqual([]);
      }
    }),
  );

  const spent = { next: { kind: "done", end: "attempts_spent" } } as const;

  async function expire({ clock, store }: World) {
    clock.now += 2 * DAY;
    await store.queue.stage(clock.now, 10);
    await store.queue.expire(clock.now, 10);
  }

  test(
    "counts in the end where none of the others takes it: it is given up, or nobody claims it in time",
    inWorld(open, async (world) => {
      for (const isGivenUp of [true, false])
        for (const isKnown of [true, false])
          for (const segments of [1, 3]) {
            const lost = (id: string) =>
              ({ ...unconfirmed(), ...(isKnown && { providerMessageIds: [id] }) }) as PartOutcome;
            const [id = ""] = await world.sms();
            const all = (outcome: PartOutcome) => ({ outcomes: Array(segments).fill(outcome) });
            const tried = triedBy(world, CONNECTOR, deferred());
            await world.settle(await world.claimOne(), { ...tried, ...all(lost(id)) });
            const second = await nextJob(world);
            await world.receive(id, { isOwnId: true, status: "undelivered" });
            await world.settle(second, { ...triedBy(world, OTHER, deferred()), ...all(deferred()) });
            expect(await world.status(id)).toBe("queued");
            const put = { ...triedBy(world, THIRD, deferred()), ...all(deferred()) };
            await world.settle(await nextJob(world), { ...put, ...(isGivenUp && spent) });
            if (!isGivenUp) await expire(world);
            expect(await world.status(id)).toBe("undelivered");
            expect(await world.store.receipts.parked({ limit: 10 })).toEqual([]);
          }
    }),
  );

  test(
    "decides nothing where another may have it",
    inWorld(open, async (world) => {
      const { id, job } = await toldMeanwhile(world, [unconfirmed()]);
      await world.settle(job, { ...triedBy(world, OTHER, unconfirmed()), ...spent });
      expect((await world.message(id)).progress).toMatchObject({
        status: "failed",
        error: { code: "unconfirmed" },
      });
      const taken = await toldMeanwhile(world, [unconfirmed()]);
      await world.settle(taken.job, { connectorId: OTHER, outcomes: [sent("b")] });
      expect(await world.status(taken.id)).toBe("sent");
    }),
  );

  test(
    "is late behind one that is stored together with it, and has just ended the message",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms();
      await world.settle(await world.claimOne(), triedBy(world, CONNECTOR, deferred()));
      await world.settle(await nextJob(world), triedBy(world, OTHER, unconfirmed()));
      const { now: receivedAt } = world.clock;
      const reference = partReference(id, 0);
      const told = { recipient: "+919812345678", status: "delivered", receivedAt } as const;
      const results = await world.store.receipts.record([
        { ...told, connectorId: OTHER, providerMessageId: "b", reference },
        { ...told, connectorId: CONNECTOR, providerMessageId: id, isOwnId: true },
      ]);
      expect(results.map(({ kind }) => kind)).toEqual(["applied", "late"]);
    }),
  );

  test(
    "is parked where the id is recorded, and the number is another one: the message has ended",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms();
      await world.settle(await world.claimOne(), { outcomes: [sent(id)] });
      await world.receive(id, { isOwnId: true });
      for (const status of ["delivered", "undelivered"] as const) {
        const told = { isOwnId: true, recipient: "+14155550100", status } as const;
        expect(await world.receive(id, told)).toEqual([{ kind: "parked" }]);
      }
    }),
  );

  test(
    "says nothing of a connector that put it off",
    inWorld(open, async (world) => {
      const { id, job } = await toldMeanwhile(world, [deferred()]);
      await world.settle(job, { ...triedBy(world, OTHER, deferred()), ...spent });
      expect(await world.status(id)).toBe("failed");
    }),
  );
}
