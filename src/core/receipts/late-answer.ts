import type { Progress, TimelineEntry } from "../messages/message.ts";
import type { PartRef } from "../messages/outcome.ts";
import { applyAttempt, type Step } from "../messages/progress.ts";

/** The provider took a part that was reported as `unconfirmed`; it may have been sent again since. */
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
 * A part that is still open has been sent after all. One that has been settled since is not moved; the entry tells of
 * it. A message of which no part is open any more is as its parts are: whoever holds its job has nothing left to do.
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
