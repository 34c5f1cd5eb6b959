/**
 * Whether one host, for one account, is worth trying: pure, in the times of any clock that never goes back.
 *
 * closed → open (it has failed often, for a while; or it asked for time) → after a pause one try at a time goes
 * through → closed, or open again for twice as long.
 */
import type { HostSign } from "../judge.ts";

export interface Circuit {
  /** Failures since the last success. */
  readonly failures: number;
  readonly failingSince: number;
  /** Present while open: no try before it, and one at a time after it. */
  readonly openUntil?: number;
  /** Times it was opened, or found still failing, since the last success. */
  readonly pauses: number;
  /** Of the last failure. */
  readonly reason: string;
}

export const CLOSED: Circuit = { failures: 0, failingSince: 0, pauses: 0, reason: "" };

/** A handful of failures in a row may be one bad second of a good host. */
const OPENS_AFTER_FAILURES = 10;
const OPENS_AFTER_MS = 30_000;

const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 10 * 60_000;

/** A host's word about its own time counts for the event it was said of; for its other events no longer than this. */
const LONGEST_WISH_MS = 60_000;

/** How many tries may go out beside those under way. */
export function admits(circuit: Circuit, now: number): "any" | "one" | "none" {
  if (circuit.openUntil === undefined) return "any";
  return now >= circuit.openUntil ? "one" : "none";
}

/** `jitter` in [0, 1) spreads pauses by ±10 %. */
export function afterTry(
  before: Circuit,
  sign: HostSign,
  { now, jitter }: { readonly now: number; readonly jitter: number },
): Circuit {
  if (sign.kind === "well") return CLOSED;
  if (sign.kind === "nothing") return before;
  const failed: Circuit = {
    ...before,
    failures: before.failures + 1,
    failingSince: before.failures === 0 ? now : before.failingSince,
    reason: sign.reason,
  };
  // Of tries that were under way when it opened: they say nothing new.
  if (before.openUntil !== undefined && now < before.openUntil) return failed;
  const wishMs = Math.min(sign.retryAfterMs ?? 0, LONGEST_WISH_MS);
  if (isOpening(failed, now)) {
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failed.pauses, 20), LONGEST_PAUSE_MS);
    const openUntil = now + Math.max(pauseMs * (0.9 + 0.2 * jitter), wishMs);
    return { ...failed, pauses: failed.pauses + 1, openUntil };
  }
  return wishMs > 0 ? { ...failed, openUntil: now + wishMs } : failed;
}

function isOpening({ failures, failingSince }: Circuit, now: number): boolean {
  return failures >= OPENS_AFTER_FAILURES && now - failingSince >= OPENS_AFTER_MS;
}
