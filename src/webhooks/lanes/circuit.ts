/**
 * A circuit breaker: whether one host, for one account, is worth trying. Pure; times are milliseconds of a monotonic clock.
 *
 * closed → open (the host has failed often, for a while; or it asked for time) → after a pause one attempt at a time goes
 * through → closed, or open again for twice as long.
 */
import type { HostHealth } from "../judge.ts";

export interface Circuit {
  /** Failures since the last success. */
  readonly failures: number;
  readonly failingSince: number;
  /** Present while open: no attempt begins before this time, and after it one at a time. */
  readonly openUntil?: number;
  /** How often it was opened for failures since the last success, short pauses not counted. */
  readonly pauses: number;
  /** Changes with each pause for failures, short or long: see `isForNewest`. */
  readonly isNewestNext: boolean;
  /** How often it was opened since the last success because the host asked for time without saying how much. */
  readonly waits: number;
  /** The reason of the last failure. */
  readonly reason: string;
  /** Present until the host has taken an event. */
  readonly isUnproven?: true;
}

export const CLOSED: Circuit = {
  failures: 0,
  failingSince: 0,
  pauses: 0,
  isNewestNext: false,
  waits: 0,
  reason: "",
};

/** Of a host of which this process knows nothing yet. It may have failed for hours before the process began. */
export const UNPROVEN: Circuit = { ...CLOSED, isUnproven: true };

/**
 * A handful of failures in a row may be one bad second of a good host. An unproven host is not waited for: with each start during its
 * outage, half a minute would cost a backlog hundreds of tries.
 */
const OPENS_AFTER_FAILURES = 10;
const OPENS_AFTER_MS = 30_000;

const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 10 * 60_000;

/** A host that answers is not away: it may be one URL that fails, or a server that is restarted. */
const LONGEST_PAUSE_IF_THERE_MS = 30_000;

/**
 * The pause of an unproven host that answers with errors, until it has done so for half a minute. If only one of its URLs fails, with
 * many events, the newest are to be looked through before those for others are no longer among them.
 */
const UNPROVEN_PAUSE_MS = 1_000;

/** The event that was answered waits for all of a Retry-After. Other events for the host wait no longer than this. */
const LONGEST_RETRY_AFTER_MS = 60_000;

/**
 * The pause of a host that asks for time and does not say how much, twice as long after each try that it refuses. Without one, a
 * receiver that limits its rate would be asked as fast as it says no, and a backlog would use up its tries.
 */
const FIRST_WAIT_MS = 500;

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
export function isForNewest({ openUntil, isNewestNext }: Circuit): boolean {
  return openUntil !== undefined && isNewestNext;
}

/** `jitter` in [0, 1) spreads pauses by ±10 %. */
export function afterAttempt(
  before: Circuit,
  health: HostHealth,
  { now, jitter }: { readonly now: number; readonly jitter: number },
): Circuit {
  if (health.kind === "healthy") return CLOSED;
  if (health.kind === "unknown" || health.kind === "answering") return before;
  const failed: Circuit = {
    ...before,
    failures: before.failures + 1,
    failingSince: before.failures === 0 ? now : before.failingSince,
    reason: health.reason,
  };
  // An attempt that was under way when the circuit opened says nothing new.
  if (before.openUntil !== undefined && now < before.openUntil) return failed;
  const spread = 0.9 + 0.2 * jitter;
  const waitMs = waitMsOf(health, failed.waits) * (health.asksForTime ? spread : 1);
  if (isOpening(failed, now)) {
    const isShort = health.mayBeOfUrl === true && !hasFailedForLong(failed, now);
    const pauseMs = isShort ? UNPROVEN_PAUSE_MS : longPauseMs(health, failed.pauses);
    const openUntil = now + Math.max(pauseMs * spread, waitMs);
    const pauses = failed.pauses + Number(!isShort);
    return { ...failed, pauses, isNewestNext: !failed.isNewestNext, openUntil };
  }
  if (waitMs === 0) return failed;
  return { ...failed, waits: failed.waits + Number(health.asksForTime ?? false), openUntil: now + waitMs };
}

function longPauseMs({ isThere }: Failing, pauses: number): number {
  const longestMs = isThere ? LONGEST_PAUSE_IF_THERE_MS : LONGEST_PAUSE_MS;
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(pauses, 20), longestMs);
}

/** The pause that the host asks for; 0 if it asks for none. */
function waitMsOf({ retryAfterMs = 0, asksForTime }: Failing, waits: number): number {
  if (!asksForTime) return Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS);
  return Math.min(FIRST_WAIT_MS * 2 ** Math.min(waits, 20), LONGEST_PAUSE_IF_THERE_MS);
}

type Failing = Extract<HostHealth, { readonly kind: "failing" }>;

function isOpening(circuit: Circuit, now: number): boolean {
  const isLong = circuit.isUnproven || hasFailedForLong(circuit, now);
  return circuit.failures >= OPENS_AFTER_FAILURES && isLong;
}

function hasFailedForLong({ failingSince }: Circuit, now: number): boolean {
  return now - failingSince >= OPENS_AFTER_MS;
}
