import type { Clock } from "../../../../core/clock.ts";
import { remember } from "../../../../core/work/remember.ts";

/**
 * Whose queue is full when an SMSC answers ESME_RMSGQFUL: its own, or that of one recipient, whose handset has been off for long.
 * Only the first is a reason to send more slowly. Among the recipients of a campaign there are always some of the second kind: if
 * each of them halved the rate, little would be left of it.
 */
export interface FullQueues {
  /** To be called when a segment was refused. */
  refused(segment: SegmentOf): FullQueue;
  /** To be called when a segment was taken. */
  taken(segment: SegmentOf): void;
}

/** The recipient and the message of a segment. */
interface SegmentOf {
  readonly to: string;
  readonly messageId: string;
}

export interface FullQueue {
  /** Whether it seems to be the SMSC's own. */
  readonly isOfSmsc: boolean;
  /**
   * Whether the SMSC's own was the last one that seemed to be full, and it has taken nothing since: then a recipient whose queue is
   * known to be full speaks against the SMSC too, though it is no reason to send still more slowly.
   */
  readonly isOfAll: boolean;
  /** How long the message waits before its next try. */
  readonly waitMs: number;
}

/**
 * So many recipients one after the other, all of whose queues have just become full, are no coincidence. That those which are known
 * to be full still are says nothing: at night there may be no other messages than theirs.
 */
const RECIPIENTS_IN_A_ROW = 3;

/**
 * The first waits of each message are short, since a one-time password is of use for minutes only, whatever has been waiting for its
 * recipient before. Then they double: a handset that is off may be so for a day, and thousands of messages tried twice a minute would
 * take a large part of the rate.
 */
const SHORT_WAITS = 4;
const LONGEST_WAIT_MS = 10 * 60_000;

/** How many recipients, and how many messages, are remembered. Those whose last refusal is the oldest are forgotten first. */
const MAX_REMEMBERED = 20_000;

/** How often a message was refused since a segment of it was taken, and when that was counted last. */
interface Refused {
  readonly times: number;
  readonly atMs: number;
}

/** @param shortWaitMs how long a message waits after each of its first refusals */
export function createFullQueues(clock: Clock, shortWaitMs: number): FullQueues {
  /** The recipients that were refused since a segment to them was taken. */
  const known = new Map<string, true>();
  const waiting = new Map<string, Refused>();
  let recipients = 0;
  return {
    refused({ to, messageId }) {
      const isNew = !known.has(to);
      if (isNew) recipients++;
      remember(known, [to, true], MAX_REMEMBERED);
      const refused = countAnother(waiting.get(messageId), clock.monotonicMs(), shortWaitMs);
      remember(waiting, [messageId, refused], MAX_REMEMBERED);
      const isOfAll = recipients >= RECIPIENTS_IN_A_ROW;
      return { isOfSmsc: isNew && isOfAll, isOfAll, waitMs: waitAfter(refused.times, shortWaitMs) };
    },
    taken({ to, messageId }) {
      recipients = 0;
      known.delete(to);
      waiting.delete(messageId);
    },
  };
}

/** Refusals within the shortest wait are of several segments in one try, and count once. */
function countAnother(before: Refused | undefined, nowMs: number, shortWaitMs: number): Refused {
  if (!before) return { times: 1, atMs: nowMs };
  return nowMs - before.atMs < shortWaitMs ? before : { times: before.times + 1, atMs: nowMs };
}

function waitAfter(times: number, shortWaitMs: number): number {
  return Math.min(LONGEST_WAIT_MS, shortWaitMs * 2 ** Math.max(0, times - SHORT_WAITS));
}
