/** Short ways to have an SMS sent by one connector after the other. */
import { expect } from "bun:test";
import type { PartOutcome, Receipt } from "../../../core/messages/outcome.ts";
import type { ClaimedJob, Settlement } from "../../../core/queue/claimed-job.ts";
import { partReference } from "../../../core/receipts/short-reference.ts";
import { CONNECTOR, SECOND, sent, unconfirmed, type World } from "../world.contract.ts";

export const TO = "+919812345678";
export const OTHER = "connector-b";
export const THIRD = "connector-c";

/** What the connector says of the message by the reference that its copy was sent with. */
export function tell(world: World, id: string, over: Partial<Receipt>) {
  return world.receive(`${over.connectorId} ${id}`, {
    reference: partReference(id, 0),
    recipient: TO,
    ...over,
  });
}

/** The next claim of a message that is to be tried again. */
export async function nextJob(world: World): Promise<ClaimedJob> {
  world.clock.now += 120 * SECOND;
  await world.store.queue.stage(world.clock.now, 10);
  return world.claimOne();
}

export function triedBy(world: World, connectorId: string, outcome: PartOutcome): Partial<Settlement> {
  const next = { kind: "again", dueAt: world.clock.now } as const;
  return { connectorId, outcomes: [outcome], next };
}

/** Sent by one connector after the other, none of which has answered. */
export async function neverAnsweredBy(world: World, connectors: readonly string[]): Promise<string> {
  const [id = ""] = await world.sms({ to: [TO] });
  for (const connectorId of connectors)
    await world.settle(await nextJob(world), triedBy(world, connectorId, unconfirmed()));
  expect(await world.status(id)).toBe("queued");
  return id;
}

/** The connector says that it has taken the message, after its attempt was given up. */
export async function answerLate(world: World, messageId: string, connectorId: string): Promise<void> {
  const answer = {
    connectorId,
    messageId,
    part: 0,
    parts: 1,
    providerMessageIds: [`${connectorId} ${messageId}`],
  };
  await world.store.receipts.recordLateAnswer(answer, world.clock.now);
}

/** The first connector's answer has come while the second was sending the message, or after: that one has taken it as well. */
export async function takenByBoth(world: World, isAfter = false): Promise<string> {
  const id = await neverAnsweredBy(world, [CONNECTOR]);
  const job = await nextJob(world);
  if (!isAfter) await answerLate(world, id, CONNECTOR);
  await world.settle(job, { connectorId: OTHER, outcomes: [sent(`${OTHER} ${id}`)] });
  if (isAfter) await answerLate(world, id, CONNECTOR);
  expect(await world.status(id)).toBe("sent");
  return id;
}

/** What the connector says of the copy by the id that it gave. */
export function hear(world: World, id: string, connectorId: string, status: Receipt["status"]) {
  return world.receive(`${connectorId} ${id}`, { connectorId, status });
}
