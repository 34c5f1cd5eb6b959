/** An SMS that two connectors have taken, and whose receipts are overdue: which of them is waited for, and asked. */
import { expect, test } from "bun:test";
import { CONNECTOR, deferred, inWorld, type OpenStore, SECOND, sent, type World } from "../world.contract.ts";
import {
  answerLate,
  hear,
  neverAnsweredBy,
  nextJob,
  OTHER,
  THIRD,
  takenByBoth,
  triedBy,
} from "./copies-world.contract.ts";

export function overdueCopiesContract(open: OpenStore): void {
  async function flag({ clock, store }: World) {
    clock.now += 7_200 * SECOND;
    await store.receipts.flagOverdue({ now: clock.now, sentBefore: clock.now, limit: 10 });
  }

  /** The ids that the connector is asked about. */
  async function ask({ clock, store }: World, connectorId: string) {
    clock.now += SECOND;
    const request = { connectorId, now: clock.now, limit: 10, waitsMs: [SECOND] };
    const asked = await store.receipts.takeQuestions(request);
    return asked.map(({ providerMessageId }) => providerMessageId);
  }

  const overdue = ({ store }: World) => store.receipts.countOverdue();

  test(
    "each of two that have taken a message is asked about the copy that it has, until that has failed",
    inWorld(open, async (world) => {
      const id = await takenByBoth(world);
      await flag(world);
      expect(await overdue(world)).toEqual([
        { connectorId: CONNECTOR, parts: 1 },
        { connectorId: OTHER, parts: 1 },
      ]);
      for (let time = 0; time < 2; time++)
        expect([await ask(world, CONNECTOR), await ask(world, OTHER)]).toEqual([
          [`${CONNECTOR} ${id}`],
          [`${OTHER} ${id}`],
        ]);
      await hear(world, id, OTHER, "undelivered");
      expect(await overdue(world)).toEqual([{ connectorId: CONNECTOR, parts: 1 }]);
      expect([await ask(world, CONNECTOR), await ask(world, OTHER)]).toEqual([[`${CONNECTOR} ${id}`], []]);
      await hear(world, id, CONNECTOR, "undelivered");
      expect([await ask(world, CONNECTOR), await ask(world, OTHER)]).toEqual([[], []]);
      expect(await overdue(world)).toEqual([]);
    }),
  );

  test(
    "one that has taken it later is overdue later, in its own time",
    inWorld(open, async (world) => {
      const id = await neverAnsweredBy(world, [CONNECTOR]);
      const job = await nextJob(world);
      await answerLate(world, id, CONNECTOR);
      const { now: sentBefore } = world.clock;
      world.clock.now += 600 * SECOND;
      await world.settle(job, { connectorId: OTHER, outcomes: [sent(`${OTHER} ${id}`)] });
      await world.store.receipts.flagOverdue({ now: world.clock.now, sentBefore, limit: 10 });
      expect(await overdue(world)).toEqual([{ connectorId: CONNECTOR, parts: 1 }]);
      await flag(world);
      expect(await overdue(world)).toEqual([
        { connectorId: CONNECTOR, parts: 1 },
        { connectorId: OTHER, parts: 1 },
      ]);
    }),
  );

  test(
    "one of which the other cannot be asked is asked all the same, and its word that it was delivered ends the waiting for both",
    inWorld(open, async (world) => {
      for (const connectorId of [CONNECTOR, OTHER]) {
        const id = await takenByBoth(world);
        await flag(world);
        expect(await ask(world, connectorId)).toEqual([`${connectorId} ${id}`]);
        await hear(world, id, connectorId, "delivered");
        expect(await world.status(id)).toBe("delivered");
        expect(await overdue(world)).toEqual([]);
      }
    }),
  );

  test(
    "one that has given no id does not keep the other from being asked",
    inWorld(open, async (world) => {
      const id = await neverAnsweredBy(world, [CONNECTOR]);
      const job = await nextJob(world);
      await answerLate(world, id, CONNECTOR);
      await world.settle(job, triedBy(world, OTHER, sent()));
      await flag(world);
      expect([await ask(world, OTHER), await ask(world, CONNECTOR)]).toEqual([[], [`${CONNECTOR} ${id}`]]);
      expect(await overdue(world)).toEqual([{ connectorId: CONNECTOR, parts: 1 }]);
    }),
  );

  test(
    "once the first has failed, the other is overdue, and asked about its copy, whether or not the first can be asked",
    inWorld(open, async (world) => {
      for (const isAsked of [true, false]) {
        const id = await takenByBoth(world);
        await flag(world);
        await hear(world, id, CONNECTOR, "undelivered");
        if (isAsked) expect(await ask(world, CONNECTOR)).toEqual([]);
        expect(await overdue(world)).toEqual([{ connectorId: OTHER, parts: 1 }]);
        expect(await ask(world, OTHER)).toEqual([`${OTHER} ${id}`]);
        await hear(world, id, OTHER, "undelivered");
        expect(await overdue(world)).toEqual([]);
      }
    }),
  );

  test(
    "where two of three have failed at once, the third is overdue",
    inWorld(open, async (world) => {
      const id = await neverAnsweredBy(world, [CONNECTOR, OTHER]);
      const job = await nextJob(world);
      await answerLate(world, id, CONNECTOR);
      await answerLate(world, id, OTHER);
      await world.settle(job, triedBy(world, THIRD, sent(`${THIRD} ${id}`)));
      await flag(world);
      await world.store.receipts.record(
        [CONNECTOR, OTHER].map((connectorId) => ({
          connectorId,
          providerMessageId: `${connectorId} ${id}`,
          status: "undelivered",
          receivedAt: world.clock.now,
        })),
      );
      expect(await overdue(world)).toEqual([{ connectorId: THIRD, parts: 1 }]);
      expect(await ask(world, THIRD)).toEqual([`${THIRD} ${id}`]);
    }),
  );

  test(
    "where two of three have failed and were asked before, the third is asked at once, and again after the first wait",
    inWorld(open, async (world) => {
      const { clock, store } = world;
      const id = await neverAnsweredBy(world, [CONNECTOR, OTHER]);
      const job = await nextJob(world);
      for (const connectorId of [CONNECTOR, OTHER]) await answerLate(world, id, connectorId);
      await world.settle(job, triedBy(world, THIRD, sent(`${THIRD} ${id}`)));
      await flag(world);
      const waitsMs = [60 * SECOND, 3_600 * SECOND];
      const askNow = (connectorId: string) =>
        store.receipts.takeQuestions({ connectorId, now: clock.now, limit: 10, waitsMs });
      for (const connectorId of [CONNECTOR, OTHER]) expect(await askNow(connectorId)).toHaveLength(1);
      for (const connectorId of [CONNECTOR, OTHER]) await hear(world, id, connectorId, "undelivered");
      for (let time = 0; time < 2; time++) {
        expect(await askNow(THIRD)).toMatchObject([{ providerMessageId: `${THIRD} ${id}` }]);
        expect(await askNow(THIRD)).toEqual([]);
        clock.now += 60 * SECOND;
      }
    }),
  );

  test(
    "of segments that connectors have taken at one moment, the entry tells of the first",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, store, clock } = world;
      const [id = ""] = await sms();
      const again = { kind: "again", dueAt: clock.now } as const;
      await settle(await claimOne(), { outcomes: [deferred(), sent("a")], next: again });
      await store.queue.stage(clock.now, 10);
      await settle(await claimOne(), { connectorId: OTHER, outcomes: [sent("b"), undefined] });
      await flag(world);
      const entry = (await store.messages.timeline({ id }))?.at(-1);
      expect(entry).toMatchObject({ kind: "receipt_overdue", detail: { connector: OTHER } });
    }),
  );

  test(
    "it tells of the first also where not all of them are flagged at a time, and tells it once",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, store, clock, history } = world;
      const [id = ""] = await sms();
      const again = { kind: "again", dueAt: clock.now } as const;
      await settle(await claimOne(), { outcomes: [deferred(), sent("a")], next: again });
      await store.queue.stage(clock.now, 10);
      await settle(await claimOne(), { connectorId: OTHER, outcomes: [sent("b"), undefined] });
      const bounds = { now: clock.now, sentBefore: clock.now, limit: 1 };
      while ((await store.receipts.flagOverdue(bounds)) > 0);
      const entry = (await store.messages.timeline({ id }))?.at(-1);
      expect(entry).toMatchObject({ kind: "receipt_overdue", detail: { connector: OTHER } });
      expect((await history(id)).filter((each) => each === "receipt_overdue:sent")).toHaveLength(1);
      expect(await store.receipts.countOverdue()).toEqual([
        { connectorId: CONNECTOR, parts: 1 },
        { connectorId: OTHER, parts: 1 },
      ]);
    }),
  );

  test(
    "one that has failed before is not overdue: the other is",
    inWorld(open, async (world) => {
      for (const connectorId of [CONNECTOR, OTHER]) {
        const left = connectorId === OTHER ? CONNECTOR : OTHER;
        const id = await takenByBoth(world);
        await hear(world, id, connectorId, "undelivered");
        await flag(world);
        expect(await overdue(world)).toEqual([{ connectorId: left, parts: 1 }]);
        const timeline = await world.store.messages.timeline({
          accountId: world.account.id,
          channel: "sms",
          id,
        });
        expect(timeline?.findLast(({ kind }) => kind === "receipt_overdue")?.detail).toMatchObject({
          connector: left,
        });
        expect(await ask(world, left)).toEqual([`${left} ${id}`]);
        await hear(world, id, left, "delivered");
        expect(await overdue(world)).toEqual([]);
      }
    }),
  );
}
