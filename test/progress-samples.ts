/** Messages, outcomes and receipts for tests of the life cycle. */
import type { MessageError, Part, Progress } from "../src/core/messages/message.ts";
import type { PartOutcome, Receipt } from "../src/core/messages/outcome.ts";
import { applyAttempt, type NextStep } from "../src/core/messages/progress.ts";
import type { Step } from "../src/core/messages/step.ts";

export const AT = 1_700_000_000_000;
const busy: MessageError = { code: "4.2.2", message: "mailbox busy" };
export const sent = (id: string): PartOutcome => ({ kind: "sent", providerMessageIds: [id] });
export const deferred: PartOutcome = { kind: "deferred", error: busy };
export const rejected: PartOutcome = {
  kind: "rejected",
  error: { code: "smpp.0x0000000b", message: "invalid destination" },
};
export const bounced: PartOutcome = {
  kind: "rejected",
  bounced: true,
  error: { code: "5.1.1", message: "no such user" },
};
export const unconfirmed: PartOutcome = {
  kind: "unconfirmed",
  error: { code: "unconfirmed", message: "no answer" },
};

export const sms = (change: Partial<Progress> = {}): Progress => ({
  channel: "sms",
  status: "sending",
  parts: [],
  sequence: 0,
  position: 0,
  ...change,
});

export const email = (...addresses: string[]): Progress => ({
  channel: "email",
  status: "sending",
  parts: addresses.map((address): Part => ({ status: "pending", address })),
  sequence: 0,
  position: 0,
});

export const attempt = (
  before: Progress,
  outcomes: readonly (PartOutcome | undefined)[],
  next: NextStep = { kind: "done" },
) => applyAttempt(before, { at: AT, connectorId: "c1", outcomes, next });

export const receipt = (status: Receipt["status"], error?: MessageError): Receipt => ({
  connectorId: "c1",
  providerMessageId: "x",
  status,
  receivedAt: AT + 1_000,
  ...(error && { error }),
});

export const events = (step: Step) =>
  step.entries.flatMap((entry) => (entry.eventType ? [entry.eventType] : []));
