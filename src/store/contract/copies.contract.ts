/** An SMS of which two connectors may have sent a copy: what the receipts of either decide. */
import { expect, test } from "bun:test";
import type { PartOutcome, Receipt } from "../../core/messages/outcome.ts";
import type { ClaimedJob, Settlement } from "../../core/queue/claimed-job.ts";
import { partReference } from "../../core/receipts/short-reference.ts";
import { CONNECTOR, inWorld, type OpenStore, SECOND, unconfirmed, type World } from "./world.contract.ts";

const TO = "+919812345678";
const OTHER = "connector-b";
const THIRD = "connector-c";

/** What the connector says of the message by the reference that its copy was sent with. */
function tell(world: World, id: string, over: Partial<Receipt>) {
  return world.receive(`${over.connectorId} ${id}`, {
    reference: partReference(id, 0),
    recipient: TO,
    ...over,
  });
}

/** The next claim of a message that is to be tried again. */
async function nextJob(world: World): Promise<ClaimedJob> {
  world.clock.now += 120 * SECOND;
  await world.store.queue.stage(world.clock.now, 10);
  return world.claimOne();
}

function triedBy(world: World, connectorId: string, outcome: PartOutcome): Partial<Settlement> {
  const next = { kind: "again", dueAt: world.clock.now } as const;
  return { connectorId, outcomes: [outcome], next };
}

/** Sent by one connector after the other, none of which has answered. */
async function neverAnsweredBy(world: World, connectors: readonly string[]): Promise<string> {
  const [id = ""] = await world.sms({ to: [TO] });
  for (const connectorId of connectors)
    await world.settle(await nextJob(world), triedBy(world, connectorId, unconfirmed()));
  expect(await world.status(id)).toBe("queued");
  return id;
}

export function copiesContract(open: OpenStore): void {
  unansweredContract(open);
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
