/** Cancels a message before any part of it is sent. */
import type { ChannelName, MessageError, Part, PartStatus, Progress } from "./message.ts";
import { isOpen, withoutError } from "./part.ts";
import { record, type Step } from "./step.ts";

const CANCELED: MessageError = { code: "canceled", message: "canceled before it was sent" };

/**
 * Whether a message can still be canceled. `cancel` promises that no recipient gets it, so it is `too_late` if the message is
 * being sent, was sent in part, or may have been sent. `canceled`: it was canceled before.
 *
 * @param mayHaveLeft an attempt is under way, or one was never confirmed
 */
export function judgeCancel(progress: Progress, mayHaveLeft: boolean): "cancel" | "canceled" | "too_late" {
  if (progress.status === "failed" && progress.error?.code === CANCELED.code) return "canceled";
  const isWaiting = progress.status === "scheduled" || progress.status === "queued";
  const notSent = NOT_SENT[progress.channel];
  const isWhole = progress.parts.every((part) => notSent.has(part.status) && !part.mayHaveLeft);
  return isWaiting && isWhole && !mayHaveLeft ? "cancel" : "too_late";
}

/**
 * Statuses of parts that have reached nobody: still to be tried, or refused for good. `failed` is missing for SMS: while an SMS
 * waits, a segment has that status only by a receipt, so it was sent.
 */
const NOT_SENT: Readonly<Record<ChannelName, ReadonlySet<PartStatus>>> = {
  sms: new Set<PartStatus>(["pending"]),
  email: new Set<PartStatus>(["pending", "failed", "bounced"]),
};

/** Ends all parts that are still to be tried. The whole message becomes `failed`, even if some recipients have bounced. */
export function applyCancel(before: Progress, at: number): Step {
  const parts = before.parts.map(
    (part): Part => (isOpen(part) ? { ...part, status: "failed", error: CANCELED } : part),
  );
  const after: Progress = { ...withoutError(before), parts, status: "failed", error: CANCELED };
  return record(before, after, { at, kind: "status", error: CANCELED });
}
