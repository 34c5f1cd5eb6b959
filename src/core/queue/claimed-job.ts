/** What the delivery engine claims from the queue, and how it settles it. Times are Unix milliseconds. */
import type { Content, Progress, TimelineEntry } from "../messages/message.ts";
import type { PartOutcome } from "../messages/outcome.ts";
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
  /** The flow it was claimed from: flows have equal shares of what their queue sends. */
  readonly flow: number;
  /** Rises with every claim and fences every later write about the job. */
  readonly claim: number;
  /** Tries that reached the wire so far. */
  readonly attempt: number;
  /** An earlier claim ended without a settlement: what it tried may have been sent. */
  readonly wasInterrupted: boolean;
  readonly messageId: string;
  readonly accountId: string;
  /** The mode and settings of the account, as of the claim. */
  readonly accountMode: Account["mode"];
  readonly settings: StoredSettings;
  readonly recipient: string;
  readonly progress: Progress;
  /** Indexes of the parts this job covers; absent: all. */
  readonly parts?: readonly number[];
  readonly content: Content;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** SMS: the recipient has opted out of this sender, or of the account, since it was accepted. */
  readonly isOptedOut?: true;
}

/** What an attempt came to, as the judge decided and the store records it. */
export interface Settlement {
  readonly jobId: number;
  readonly claim: number;
  readonly messageId: string;
  readonly at: number;
  /** Absent where nothing was handed to a connector (expired before the wire). */
  readonly connectorId?: string;
  readonly countsAsAttempt: boolean;
  /** By part index, over all parts of the message; `undefined`: not tried now. SMS: the length is the number of segments. */
  readonly outcomes: readonly (PartOutcome | undefined)[];
  readonly detail?: TimelineEntry["detail"];
  readonly next: NextStep;
  /** False: text and bodies are wiped once no job of the request is left. */
  readonly keepsContent: boolean;
}

/** The account wants no second sending of what may have been sent. */
export function holdsUnconfirmed(job: ClaimedJob): boolean {
  return job.settings.on_unconfirmed === "hold";
}

/** Whether the job is about this part of its message. */
export function covers(job: ClaimedJob, index: number): boolean {
  return job.parts === undefined || job.parts.includes(index);
}
