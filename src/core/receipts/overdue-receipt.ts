import type { Progress } from "../messages/message.ts";
import type { Step } from "../messages/progress.ts";

/** When an overdue part is asked about again, by how often it has been, in milliseconds; the last wait repeats. */
export const QUESTION_WAITS_MS: readonly number[] = [5, 15, 60, 240, 720].map((minutes) => minutes * 60_000);

export interface Overdue {
  readonly at: number;
  readonly connectorId: string;
  /** When the provider took the part, Unix milliseconds. */
  readonly sentAt: number;
}

/** Flags a message whose receipt does not come: an entry for operators. It stays `sent`, and nobody outside is told. */
export function noteOverdue(before: Progress, { at, connectorId, sentAt }: Overdue): Step {
  const position = before.position + 1;
  const detail = { connector: connectorId, waited_seconds: Math.round((at - sentAt) / 1_000) };
  return {
    progress: { ...before, position },
    entries: [{ position, at, kind: "receipt_overdue", status: before.status, detail }],
  };
}
