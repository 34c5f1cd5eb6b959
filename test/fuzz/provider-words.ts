/** What providers say, by dice: of an attempt, and later. */
import type { PartOutcome, Receipt } from "../../src/core/messages/outcome.ts";
import { isSettled } from "../../src/core/messages/progress.ts";
import type { ClaimedJob, Settlement } from "../../src/core/queue/claimed-job.ts";
import { partReference } from "../../src/core/receipts/short-reference.ts";
import { judge, judgeExpired, judgeHeld, judgeSettled } from "../../src/delivery/judge.ts";
import type { Dice } from "../chaos/dice.ts";
import type { Ground } from "./engine-ground.ts";

export const PHONES = ["+919812345678", "+919812345679", "+14155550100"];
/** The account's own: handsets write to it, and it sends from it. */
export const NUMBER = "+14155550123";
const WRITTEN = [...PHONES, "919812345678", "9812345678", "4155550100"];
export const ADDRESSES = ["ann@example.net", "bob@example.org", "Ann@Example.net", "cy@münchen.example"];
/** Few, so that providers give ids again, and in forms of one another. */
export const IDS = ["1", "0A", "a", "10", "x-1"];
export const CONNECTORS = ["c-a", "c-b", "c-c"];
/** Providers write whom they mean. */
export const ERROR = { code: "x.1", message: `<${ADDRESSES[0]}>, ${PHONES[0]}: words` };

/** What becomes of an attempt at the job. */
export function settlementOf({ dice, clock: { now } }: Ground, job: ClaimedJob): Settlement {
  const { progress } = job;
  if (isSettled(progress)) return judgeSettled(job, now);
  if (job.expiresAt <= now) return judgeExpired(job, now);
  const counted = progress.parts.length || segmentsOf(job.messageId);
  if (job.wasInterrupted && dice.chance(0.4)) return judgeHeld(job, now, counted);
  const parts = Array.from({ length: counted }, (_, index) => {
    const { status = "pending" } = progress.parts[index] ?? {};
    const isDue = (status === "pending" || status === "unconfirmed") && (job.parts?.includes(index) ?? true);
    return isDue ? outcomeBy(dice) : undefined;
  });
  const outcome = { parts, countsAsAttempt: dice.chance(0.7) };
  return judge(job, outcome, { now, connectorId: dice.oneOf(CONNECTORS), jitter: 0.5 });
}

/** Of an SMS: whoever counts them, an attempt or a late answer, comes to the same. */
export function segmentsOf(messageId: string): number {
  return 1 + (Number.parseInt(messageId.slice(-1), 16) % 2);
}

function outcomeBy(dice: Dice): PartOutcome | undefined {
  const id = () => dice.oneOf(IDS);
  return dice.oneOf<PartOutcome | undefined>([
    { kind: "sent", providerMessageIds: [id()] },
    { kind: "sent", providerMessageIds: [id(), id()] },
    { kind: "sent", providerMessageIds: [] },
    { kind: "deferred", error: ERROR },
    { kind: "deferred", error: ERROR, retryAfterMs: 1_000, isOwnPace: true },
    { kind: "rejected", error: ERROR },
    { kind: "unconfirmed", error: ERROR },
    { kind: "unconfirmed", error: ERROR, providerMessageIds: [id()] },
    undefined,
  ]);
}

export function receiptBy({ dice, clock, messages }: Ground): Receipt {
  const message = messages.length > 0 ? dice.oneOf(messages) : undefined;
  const common = { connectorId: dice.oneOf(CONNECTORS), receivedAt: clock.now };
  if (message && dice.chance(0.15)) {
    const status = dice.oneOf(["delivered", "bounced", "complained", "failed"] as const);
    const target = { messageId: message.id, ...(dice.chance(0.5) && { part: dice.between(0, 2) }) };
    return {
      ...common,
      providerMessageId: "",
      status,
      target,
      recipient: dice.oneOf([...message.to, ...ADDRESSES]),
      ...(dice.chance(0.4) && { suppress: dice.oneOf(["hard_bounce", "soft_bounce", "complaint"] as const) }),
    };
  }
  const isOwnId = message !== undefined && dice.chance(0.15);
  const otherId = dice.oneOf(IDS);
  const providerMessageId = isOwnId ? message.id : dice.oneOf(IDS);
  return {
    ...common,
    providerMessageId,
    status: dice.oneOf(["sent", "delivered", "delivered", "undelivered", "expired", "failed"] as const),
    ...(isOwnId && { isOwnId }),
    ...(dice.chance(0.6) && { recipient: dice.oneOf(WRITTEN) }),
    ...(dice.chance(0.25) && otherId !== providerMessageId && { otherId }),
    ...(message && dice.chance(0.2) && { reference: partReference(message.id, dice.between(0, 1)) }),
    ...(dice.chance(0.1) && { isByText: true as const }),
  };
}

/** A part of some SMS, and the connector that says something of it. */
export function partBy({ dice, messages }: Ground) {
  const sms = messages.filter(({ channel }) => channel === "sms");
  if (sms.length === 0) return undefined;
  const messageId = dice.oneOf(sms).id;
  return { messageId, part: dice.between(0, segmentsOf(messageId) - 1), connectorId: dice.oneOf(CONNECTORS) };
}
