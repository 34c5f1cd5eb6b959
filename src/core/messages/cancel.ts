/** Calling a message back before anything of it has left. */
import type { MessageError, Part, PartStatus, Progress } from "./message.ts";
import { isOpen, withoutError } from "./part.ts";
import { record, type Step } from "./progress.ts";

const CANCELED: MessageError = { code: "canceled", message: "canceled before it was sent" };

/**
 * Whether a message may still be called back. `yes` promises that its recipients get nothing of it: so what is being
 * sent, what was sent in part and what may have left without an answer is past calling back.
 * @param mayHaveLeft an attempt is under way, or one has ended without a word
 */
export function canCancel(progress: Progress, mayHaveLeft: boolean): "yes" | "done already" | "too late" {
  if (progress.status === "failed" && progress.error?.code === CANCELED.code) return "done already";
  const isWaiting = progress.status === "scheduled" || progress.status === "queued";
  const isWhole = progress.parts.every(({ status }) => STAYED.has(status));
  return isWaiting && isWhole && !mayHaveLeft ? "yes" : "too late";
}

/** Parts that reached nobody: still to be tried, or refused for good. */
const STAYED: ReadonlySet<PartStatus> = new Set<PartStatus>(["pending", "failed", "bounced"]);

/** Ends all that is still to be tried. Failed is the whole message, also where recipients were refused before. */
export function applyCancel(before: Progress, at: number): Step {
  const parts = before.parts.map(
    (part): Part => (isOpen(part) ? { ...part, status: "failed", error: CANCELED } : part),
  );
  const after: Progress = { ...withoutError(before), parts, status: "failed", error: CANCELED };
  return record(before, after, { at, kind: "status", error: CANCELED });
}
