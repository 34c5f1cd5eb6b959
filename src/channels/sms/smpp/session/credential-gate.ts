import type { Clock } from "../../../../core/clock.ts";

/**
 * Holds back all binds of a connector for minutes when the SMSC refuses its name or password: that does not mend itself,
 * and an SMSC locks out clients that insist. After that one bind tries, and the others only once it has been accepted.
 */
export interface CredentialGate {
  /** Milliseconds until a bind may be tried; 0: now. While the gate is closed, an answer of 0 is given to one bind. */
  holdMs(): number;
  /** A bind was refused. Returns the milliseconds until the next try. */
  refused(reason: string): number;
  /** A bind was accepted. */
  passed(): void;
  /** Why no bind is tried, in words for the operator. */
  reason(): string;
}

const CREDENTIAL_DELAY_MS = 5 * 60_000;

/** How long the others wait for the answer to the one bind that tries. */
const TRIAL_MS = 30_000;

/** @param onAlarm called when the gate closes and when it opens, not in between */
export function createCredentialGate(clock: Clock, onAlarm: (reason?: string) => void): CredentialGate {
  let closed: { readonly reason: string; until: number } | undefined;
  return {
    holdMs() {
      if (!closed) return 0;
      const holdMs = closed.until - clock.monotonicMs();
      if (holdMs > 0) return holdMs;
      closed.until += TRIAL_MS - holdMs;
      return 0;
    },
    refused(reason) {
      const wasOpen = closed === undefined;
      closed = { reason, until: clock.monotonicMs() + CREDENTIAL_DELAY_MS };
      if (wasOpen) onAlarm(reason);
      return CREDENTIAL_DELAY_MS;
    },
    passed() {
      if (closed) onAlarm();
      closed = undefined;
    },
    reason: () => `${closed?.reason ?? "the SMSC refused us"}; tried again every 5 minutes`,
  };
}
