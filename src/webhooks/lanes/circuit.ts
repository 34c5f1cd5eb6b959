/**
 * A circuit breaker: whether one host, for one account, is worth trying. Pure; times are milliseconds of a monotonic clock.
 *
 * closed → open (the host has failed often, for a while; or it sent Retry-After) → after a pause one attempt at a time goes
 * through → closed, or open again for twice as long.
 */
import type { HostHealth } from "../judge.ts";

export interface Circuit {
  /** Failures since the last success. */
  readonly failures: number;
  readonly failingSince: number;
  /** Present while open: no attempt begins before this time, and after it one at a time. */
  readonly openUntil?: number;
  /** How often it was opened for failures since the last success. */
  readonly pauses: number;
  /** The reason of the last failure. */
  readonly reason: string;
}

export const CLOSED: Circuit = { failures: 0, failingSince: 0, pauses: 0, reason: "" };

/** A handful of failures in a row may be one bad second of a good host. */
const OPENS_AFTER_FAILURES = 10;
const OPENS_AFTER_MS = 30_000;

const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 10 * 60_000;

/** A host that answers is not away: it may be one URL that fails, or a server that is restarted. */
const LONGEST_PAUSE_IF_THERE_MS = 30_000;

/** The event that was answered waits for all of a Retry-After. Other events for the host wait no longer than this. */
const LONGEST_RETRY_AFTER_MS = 60_000;

/** How many attempts may be under way at once. */
export function admits(circuit: Circuit, now: number): "any" | "one" | "none" {
  if (circuit.openUntil === undefined) return "any";
  return now >= circuit.openUntil ? "one" : "none";
}

/**
 * Whether the next attempt is to be of the newest event: so is every other one after a pause for failures, from the first on. The
 * oldest events may all be for one URL that fails, of several behind the host. If they were tried alone, those for the other URLs
 * would wait for as many pauses.
 */
export function isForNewest({ openUntil, pauses }: Circuit): boolean {
  return openUntil !== undefined && pauses % 2 === 1;
}

/** `jitter` in [0, 1) spreads pauses by ±10 %. */
export function afterAttempt(
  before: Circuit,
  health: HostHealth,
  { now, jitter }: { readonly now: number; readonly jitter: number },
): Circuit {
  if (health.kind === "healthy") return CLOSED;
  if (health.kind === "unknown" || health.kind === "gone") return before;
  const failed: Circuit = {
    ...before,
    failures: before.failures + 1,
    failingSince: before.failures === 0 ? now : before.failingSince,
    reason: health.reason,
  };
  // An attempt that was under way when the circuit opened says nothing new.
  if (before.openUntil !== undefined && now < before.openUntil) return failed;
  const retryAfterMs = Math.min(health.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
  if (isOpening(failed, now)) {
    const longestMs = health.isThere ? LONGEST_PAUSE_IF_THERE_MS : LONGEST_PAUSE_MS;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failed.pauses, 20), longestMs);
    const openUntil = now + Math.max(pauseMs * (0.9 + 0.2 * jitter), retryAfterMs);
    return { ...failed, pauses: failed.pauses + 1, openUntil };
  }
  return retryAfterMs > 0 ? { ...failed, openUntil: now + retryAfterMs } : failed;
}

function isOpening({ failures, failingSince }: Circuit, now: number): boolean {
  return failures >= OPENS_AFTER_FAILURES && now - failingSince >= OPENS_AFTER_MS;
}
