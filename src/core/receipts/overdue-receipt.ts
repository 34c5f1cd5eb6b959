import type { Progress } from "../messages/message.ts";
import type { Step } from "../messages/step.ts";

/** The waits after the first question about an overdue part, the second, and so on, in milliseconds; the last one repeats. */
export const QUESTION_WAITS_MS: readonly number[] = [5, 15, 60, 240, 720].map((minutes) => minutes * 60_000);

export interface Overdue {
  readonly at: number;
  readonly connectorId: string;
  /** When the provider took the part, Unix milliseconds. */
  readonly sentAt: number;
}

/** Notes for operators that a receipt is overdue. The message stays `sent`, and there is no public event. */
export function noteOverdue(before: Progress, { at, connectorId, sentAt }: Overdue): Step {
  const position = before.position + 1;
  const detail = { connector: connectorId, waited_seconds: Math.round((at - sentAt) / 1_000) };
  return {
    progress: { ...before, position },
    entries: [{ position, at, kind: "receipt_overdue", status: before.status, detail }],
  };
}
