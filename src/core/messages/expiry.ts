import { settleAttempt } from "./early-failure.ts";
import type { Progress } from "./message.ts";
import { isSettled } from "./progress.ts";
import type { Step } from "./step.ts";

export interface Expiry {
  readonly at: number;
  /** The indexes of the parts that the job covers; absent: all. */
  readonly parts?: readonly number[];
  /** A lease of the job ran out before its attempt was settled, so the parts that it tried may have been sent. */
  readonly wasInterrupted: boolean;
}

/** Ends a message's open parts without an attempt, because its window is over. A settled message stays as it is. */
export function applyExpiry(before: Progress, { at, parts: only, wasInterrupted }: Expiry): Step {
  const isOpenEmail = before.channel === "email" && !isSettled(before);
  const sending: Progress = isOpenEmail ? { ...before, status: "sending" } : before;
  const next = { kind: "done", end: wasInterrupted ? "unconfirmed" : "window_over" } as const;
  return settleAttempt(sending, { at, outcomes: [], next, ...(only && { only }) });
}
