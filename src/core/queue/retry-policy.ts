import type { ChannelName } from "../messages/message.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../time/durations.ts";

/** When and how often a message is tried again. */
export interface RetryPolicy {
  /** The wait after the first attempt, the second, and so on, in milliseconds; the last one repeats. */
  readonly waitsMs: readonly number[];
  /** How many attempts may reach the wire; absent: any number, until the delivery window is over. */
  readonly maxAttempts?: number;
}

/**
 * SMS: one-time passwords live for minutes, so the first retries are quick. Email: hosts with greylisting expect a second attempt
 * after one to five minutes, and RFC 5321 §4.5.4.1 asks for intervals of at least half an hour as long as a host stays unwilling.
 */
export const RETRY_POLICIES: Record<ChannelName, RetryPolicy> = {
  sms: {
    waitsMs: [
      5 * SECOND_MS,
      15 * SECOND_MS,
      30 * SECOND_MS,
      MINUTE_MS,
      2 * MINUTE_MS,
      5 * MINUTE_MS,
      10 * MINUTE_MS,
    ],
    maxAttempts: 20,
  },
  email: {
    waitsMs: [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS, 2 * HOUR_MS, 4 * HOUR_MS],
  },
};

/**
 * How many attempts may be interrupted before a message is not sent again. Each of them may have sent it, and nothing else
 * ends this where the message itself, or what is sent with it, ends the process at each start. As many as an SMS has tries, and not
 * a few: a message that was only claimed counts as interrupted too, and one that was never sent must not be held.
 */
export const MAX_INTERRUPTIONS = 20;

/** The wait after a try that does not count as an attempt, if the provider asked for no other. */
const FREE_WAIT_MS = SECOND_MS;

export interface Deferral {
  /** How many attempts have reached the wire so far, this one included. */
  readonly attempt: number;
  /** False if this attempt does not count: it was throttled, or never reached the wire. */
  readonly counted: boolean;
  readonly now: number;
  readonly expiresAt: number;
  /** In [0, 1): spreads retries by ±10 %, so that messages that failed together are not all tried again together. */
  readonly jitter: number;
  /** The wait that the provider asked for; it is not asked again before. */
  readonly retryAfterMs?: number;
}

/** When to try next, Unix milliseconds: at the end of the window at the latest. `undefined` if all attempts are spent. */
export function nextAttemptAt(policy: RetryPolicy, deferral: Deferral): number | undefined {
  const { attempt, counted, now, expiresAt, jitter, retryAfterMs } = deferral;
  if (counted && policy.maxAttempts !== undefined && attempt >= policy.maxAttempts) return undefined;
  const spread = 0.9 + 0.2 * jitter;
  // Spread upwards only, by up to a tenth: nothing is tried before the time that the provider has named.
  const asked = (retryAfterMs ?? 0) * (1 + Math.abs(spread - 1));
  return Math.min(expiresAt, Math.round(now + Math.max(ownWait(policy, deferral) * spread, asked)));
}

function ownWait(policy: RetryPolicy, { attempt, counted, retryAfterMs }: Deferral): number {
  if (counted) return waitAfter(policy, attempt);
  return retryAfterMs === undefined ? FREE_WAIT_MS : 0;
}

function waitAfter(policy: RetryPolicy, attempt: number): number {
  const index = Math.min(Math.max(attempt, 1), policy.waitsMs.length) - 1;
  return policy.waitsMs[index] ?? FREE_WAIT_MS;
}
