import type { Progress, TimelineEntry } from "../messages/message.ts";
import type { PartRef } from "../messages/outcome.ts";
import { applyAttempt } from "../messages/progress.ts";
import type { Step } from "../messages/step.ts";

/** A provider's answer, too late: it had taken a part that was reported as `unconfirmed`, and that may have been sent again since. */
export interface LateAnswer extends PartRef {
  readonly connectorId: string;
  /** How many parts the message has. */
  readonly parts: number;
  /** As in a `sent` outcome. */
  readonly providerMessageIds: readonly string[];
  readonly expectsReceipt?: false;
  /** As in a `SendOutcome`. */
  readonly detail?: Readonly<Record<string, string | number | boolean>>;
}

/**
 * Marks a part as sent if it is still open. A part that was settled since does not change; there is only an entry. If no
 * part is open any more, the message is settled, and whoever holds its job has nothing left to do.
 */
export function applyLateAnswer(before: Progress, answer: LateAnswer, at: number): Step {
  const { connectorId, part, providerMessageIds } = answer;
  const length = Math.max(answer.parts, before.parts.length);
  const step = applyAttempt(before, {
    at,
    connectorId,
    outcomes: Array.from({ length }, (_, index) =>
      index === part ? { kind: "sent", providerMessageIds } : undefined,
    ),
    detail: { ...answer.detail, part, provider_message_ids: providerMessageIds },
    next: { kind: before.status === "queued" ? "again" : "held", dueAt: at },
  });
  return { ...step, entries: step.entries.map(asLateAnswer) };
}

function asLateAnswer(entry: TimelineEntry): TimelineEntry {
  return entry.kind === "attempt" ? { ...entry, kind: "late_answer" } : entry;
}
