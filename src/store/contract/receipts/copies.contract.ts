/** An SMS of which two connectors may have sent a copy: what the receipts of either decide. */
import { expect, test } from "bun:test";
import { CONNECTOR, inWorld, type OpenStore, SECOND, sent, type World } from "../world.contract.ts";
import {
  answerLate,
  hear,
  neverAnsweredBy,
  nextJob,
  OTHER,
  THIRD,
  takenByBoth,
  tell,
} from "./copies-world.contract.ts";

export function copiesContract(open: OpenStore): void {
  unansweredContract(open);
  answeredLateContract(open);
}

function unansweredContract(open: OpenStore): void {
  const COPIES = [CONNECTOR, OTHER, THIRD];

  for (const connectorId of COPIES)
    test(
      `of copies none of which was answered, that of ${connectorId} delivers the message, which is not sent again`,
      inWorld(open, async (world) => {
        const id = await neverAnsweredBy(world, COPIES);
        expect(await tell(world, id, { connectorId })).toEqual([{ kind: "applied", messageId: id }]);
        expect(await world.status(id)).toBe("delivered");
        for (const other of COPIES)
          expect(await tell(world, id, { connectorId: other, status: "failed" })).toMatchObject([
            { kind: "late" },
          ]);
        expect(await world.status(id)).toBe("delivered");
        expect(await world.store.receipts.countParked()).toBe(0);
        world.clock.now += 120 * SECOND;
        await world.store.queue.stage(world.clock.now, 10);
        expect(await world.claim()).toEqual([]);
      }),
    );

  test(
    "that the first of them was not delivered decides nothing; that the last was not ends the message",
    inWorld(open, async (world) => {
      for (const status of ["undelivered", "expired", "failed"] as const) {
        const id = await neverAnsweredBy(world, [CONNECTOR, OTHER]);
        expect(await tell(world, id, { connectorId: CONNECTOR, status })).toMatchObject([{ kind: "late" }]);
        expect(await world.status(id)).toBe("queued");
        expect(await tell(world, id, { connectorId: OTHER, status })).toMatchObject([{ kind: "applied" }]);
        expect(await world.status(id)).toBe(status);
      }
    }),
  );
}

function answeredLateContract(open: OpenStore): void {
  test(
    "the failure of either counts though the timeline is full, and that of the last one ends the message",
    inWorld(open, async (world) => {
      for (const order of [
        [CONNECTOR, OTHER],
        [OTHER, CONNECTOR],
      ]) {
        const id = await takenByBoth(world);
        const unclear = { connectorId: OTHER, status: "sent", isUnclear: true } as const;
        for (let times = 0; times < 200; times++) await world.receive(`${OTHER} ${id}`, unclear);
        expect((await world.message(id)).progress.position).toBe(200);
        for (const connector of order) await hear(world, id, connector, "undelivered");
        expect(await world.status(id)).toBe("undelivered");
      }
    }),
  );

  test(
    "of a message that two have taken, one's failure decides nothing, and the other's word ends it, also if an answer came twice",
    inWorld(open, async (world) => {
      for (const isAfter of [false, true])
        for (const [first, second] of [
          [CONNECTOR, OTHER],
          [OTHER, CONNECTOR],
        ] as const)
          for (const end of ["delivered", "undelivered"] as const) {
            const id = await takenByBoth(world, isAfter);
            if (isAfter) await answerLate(world, id, CONNECTOR);
            expect(await hear(world, id, first, "undelivered")).toMatchObject([{ kind: "late" }]);
            expect(await hear(world, id, first, "undelivered")).toMatchObject([{ kind: "late" }]);
            expect(await world.status(id)).toBe("sent");
            await hear(world, id, second, end);
            expect(await world.status(id)).toBe(end);
          }
    }),
  );

  test(
    "that a provider cannot tell how its copy fares changes nothing: the other one still counts",
    inWorld(open, async (world) => {
      for (const unsure of [CONNECTOR, OTHER]) {
        const id = await takenByBoth(world);
        await world.receive(`${unsure} ${id}`, { connectorId: unsure, status: "sent", isUnclear: true });
        await hear(world, id, OTHER, "undelivered");
        expect(await world.status(id)).toBe("sent");
        await hear(world, id, CONNECTOR, "undelivered");
        expect(await world.status(id)).toBe("undelivered");
      }
    }),
  );

  test(
    "either's receipt delivers it, and no receipt is awaited any more",
    inWorld(open, async (world) => {
      for (const [first, second] of [
        [CONNECTOR, OTHER],
        [OTHER, CONNECTOR],
      ] as const) {
        const id = await takenByBoth(world);
        await hear(world, id, first, "delivered");
        expect(await world.status(id)).toBe("delivered");
        await hear(world, id, second, "undelivered");
        expect(await world.status(id)).toBe("delivered");
        expect((await world.message(id)).progress.parts).toMatchObject([{ status: "delivered" }]);
      }
      world.clock.now += 7_200 * SECOND;
      const bounds = { now: world.clock.now, sentBefore: world.clock.now, limit: 10 };
      await world.store.receipts.flagOverdue(bounds);
      expect(await world.store.receipts.countOverdue()).toEqual([]);
    }),
  );

  test(
    "one that was never answered counts once it is said to be on its way, also where the other has been sent since",
    inWorld(open, async (world) => {
      for (const end of ["delivered", "undelivered"] as const) {
        const id = await neverAnsweredBy(world, [CONNECTOR]);
        await world.settle(await nextJob(world), { connectorId: OTHER, outcomes: [sent(`${OTHER} ${id}`)] });
        await tell(world, id, { connectorId: CONNECTOR, status: "sent" });
        await hear(world, id, OTHER, "undelivered");
        expect(await world.status(id)).toBe("sent");
        await hear(world, id, CONNECTOR, end);
        expect(await world.status(id)).toBe(end);
      }
    }),
  );

  test(
    "where one connector has taken it twice, as its answers say, each of the copies counts by its id",
    inWorld(open, async (world) => {
      for (const isAfter of [false, true])
        for (const end of ["delivered", "undelivered"] as const)
          for (const isFirst of [false, true]) {
            const id = await neverAnsweredBy(world, [CONNECTOR]);
            const job = await nextJob(world);
            if (!isAfter) await answerLate(world, id, CONNECTOR);
            await world.settle(job, { outcomes: [sent(`second ${id}`)] });
            if (isAfter) await answerLate(world, id, CONNECTOR);
            const ids = [`${CONNECTOR} ${id}`, `second ${id}`] as const;
            const [early, late] = isFirst ? ids : ids.toReversed();
            await world.receive(early ?? "", { status: "undelivered" });
            expect(await world.status(id)).toBe("sent");
            await world.receive(late ?? "", { status: end });
            expect(await world.status(id)).toBe(end);
          }
    }),
  );

  /** Ways in which the first turns out to have it, of two that have not answered. */
  const TURNS_OUT: Readonly<Record<string, (world: World, id: string) => Promise<unknown>>> = {
    "answers late": (world, id) => answerLate(world, id, CONNECTOR),
    "says that it is on its way": (world, id) => tell(world, id, { connectorId: CONNECTOR, status: "sent" }),
  };

  for (const [how, turnsOut] of Object.entries(TURNS_OUT))
    test(
      `if of two that were silent the first ${how}, and has failed, it is the other's word that ends the message`,
      inWorld(open, async (world) => {
        for (const status of ["delivered", "undelivered"] as const) {
          const id = await neverAnsweredBy(world, [CONNECTOR, OTHER]);
          await turnsOut(world, id);
          expect(await world.status(id)).toBe("sent");
          await hear(world, id, CONNECTOR, "undelivered");
          expect(await world.status(id)).toBe("sent");
          await tell(world, id, { connectorId: OTHER, status });
          expect(await world.status(id)).toBe(status);
        }
      }),
    );

  test(
    "of three that have taken it, whenever the first two answered, the last one's word ends it",
    inWorld(open, async (world) => {
      for (const end of ["delivered", "undelivered"] as const)
        for (const last of [CONNECTOR, OTHER, THIRD]) {
          const id = await neverAnsweredBy(world, [CONNECTOR, OTHER]);
          const job = await nextJob(world);
          await answerLate(world, id, CONNECTOR);
          await answerLate(world, id, OTHER);
          await world.settle(job, { connectorId: THIRD, outcomes: [sent(`${THIRD} ${id}`)] });
          for (const other of [CONNECTOR, OTHER, THIRD].filter((each) => each !== last))
            await hear(world, id, other, "undelivered");
          expect(await world.status(id)).toBe("sent");
          await hear(world, id, last, end);
          expect(await world.status(id)).toBe(end);
        }
    }),
  );

  test(
    "of three that were silent, two turn out to have it, and have failed: the word of the last one ends it",
    inWorld(open, async (world) => {
      for (const turnsOut of Object.values(TURNS_OUT)) {
        const id = await neverAnsweredBy(world, [CONNECTOR, OTHER, THIRD]);
        await turnsOut(world, id);
        await answerLate(world, id, OTHER);
        await hear(world, id, CONNECTOR, "undelivered");
        await hear(world, id, OTHER, "undelivered");
        expect(await world.status(id)).toBe("sent");
        await tell(world, id, { connectorId: THIRD });
        expect(await world.status(id)).toBe("delivered");
      }
    }),
  );

  test(
    "if the other one has failed before, the first's word ends it",
    inWorld(open, async (world) => {
      for (const turnsOut of Object.values(TURNS_OUT)) {
        const id = await neverAnsweredBy(world, [CONNECTOR, OTHER]);
        await turnsOut(world, id);
        await tell(world, id, { connectorId: OTHER, status: "undelivered" });
        expect(await world.status(id)).toBe("sent");
        await hear(world, id, CONNECTOR, "undelivered");
        expect(await world.status(id)).toBe("undelivered");
      }
    }),
  );
}
