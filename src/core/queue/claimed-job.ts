/** The jobs that the delivery engine claims from the queue, and how it settles them. Times are Unix milliseconds. */
import type { Content, Progress, TimelineEntry } from "../messages/message.ts";
import type { PartOutcome } from "../messages/outcome.ts";
import { isOpen } from "../messages/part.ts";
import type { NextStep } from "../messages/progress.ts";
import type { Account } from "../records/accounts.ts";
import type { StoredSettings } from "../records/settings.ts";

export interface ClaimRequest {
  readonly queue: string;
  readonly limit: number;
  readonly now: number;
  readonly leaseMs: number;
  /** See `Claimant`. */
  readonly process?: string;
}

export interface ClaimedJob {
  readonly jobId: number;
  /** The flow that it was claimed from. The flows of a queue have equal shares of what is sent. */
  readonly flow: number;
  /** Rises with every claim. A settlement under an older claim leaves the job alone, and only tells what was sent (`noteLostSettle`). */
  readonly claim: number;
  /** How many attempts have reached the wire so far. */
  readonly attempt: number;
  /** An earlier claim has ended without a settlement, so what it tried may have been sent. */
  readonly wasInterrupted: boolean;
  /** How many claims have ended so in all, settled since or not. */
  readonly interruptions: number;
  /** The claim that has ended so, if it is the only one since the last settlement. */
  readonly interruptedClaim?: number;
  readonly messageId: string;
  readonly accountId: string;
  /** The account's mode; `sandbox` also for what a live account accepted while it was one. */
  readonly accountMode: Account["mode"];
  /** The account's settings at the time of the claim. */
  readonly settings: StoredSettings;
  readonly recipient: string;
  readonly progress: Progress;
  /** The indexes of the parts that this job covers; absent: all. */
  readonly parts?: readonly number[];
  readonly content: Content;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** SMS: since the message was accepted, the recipient has opted out of this sender, of any if it names none, or of all of the account. */
  readonly isOptedOut?: true;
}

/** The place of a ready job in its queue. */
export interface PlaceInLine {
  readonly flow: number;
  /** Unix milliseconds. */
  readonly deadline: number;
  readonly jobId: number;
}

/** A ready job that nobody has claimed. The text of its message may be missing. */
export interface JobInLine
  extends PlaceInLine,
    Pick<ClaimedJob, "claim" | "messageId" | "accountId" | "recipient" | "progress" | "parts" | "content"> {}

/**
 * In place of a connector's id if the outcomes were decided here, and nothing was handed over: an address is suppressed, a recipient
 * has opted out. Such a settlement is told like an attempt, on the timeline and in metrics.
 */
export const WITHOUT_CONNECTOR = "postrider";

/** The result of an attempt, as the judge decided it and the store records it. */
export interface Settlement {
  readonly jobId: number;
  readonly claim: number;
  readonly messageId: string;
  readonly at: number;
  /** The connector, or `WITHOUT_CONNECTOR`. Absent if there are no outcomes of an attempt, as when the message had expired. */
  readonly connectorId?: string;
  readonly countsAsAttempt: boolean;
  /** One for each part of the message; `undefined`: this attempt did not try it. SMS: as many as there are segments. */
  readonly outcomes: readonly (PartOutcome | undefined)[];
  readonly detail?: TimelineEntry["detail"];
  readonly next: NextStep;
  /** False: the text and bodies are wiped once the request has no job left. */
  readonly keepsContent: boolean;
}

/** Whether the account wants nothing sent again that may have been sent (`on_unconfirmed: hold`). */
export function holdsUnconfirmed(job: Pick<ClaimedJob, "settings">): boolean {
  return job.settings.on_unconfirmed === "hold";
}

/** Whether the job covers this part of its message. */
export function covers(job: Pick<ClaimedJob, "parts">, index: number): boolean {
  return job.parts === undefined || job.parts.includes(index);
}

/** Whether the job covers this part, and the part is open. So is each part of an SMS whose segments no attempt has counted. */
export function hasOpenPart(job: Pick<ClaimedJob, "parts" | "progress">, index: number): boolean {
  const part = job.progress.parts[index];
  return covers(job, index) && (part === undefined || isOpen(part));
}
