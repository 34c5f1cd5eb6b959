import type { Progress } from "../messages/message.ts";
import type { Step } from "../messages/step.ts";

/** Milliseconds until an overdue part is asked about again, after the first question, the second, and so on; the last repeats. */
export const QUESTION_WAITS_MS: readonly number[] = [5, 15, 60, 240, 720].map((minutes) => minutes * 60_000);

export interface Overdue {
  readonly at: number;
  readonly connectorId: string;
  /** When the provider took the part, Unix milliseconds. */
  readonly sentAt: number;
}

/** Flags a message whose receipt is overdue, with an entry for operators. It stays `sent`, and there is no public event. */
export function noteOverdue(before: Progress, { at, connectorId, sentAt }: Overdue): Step {
  const position = before.position + 1;
  const detail = { connector: connectorId, waited_seconds: Math.round((at - sentAt) / 1_000) };
  return {
    progress: { ...before, position },
    entries: [{ position, at, kind: "receipt_overdue", status: before.status, detail }],
  };
}
