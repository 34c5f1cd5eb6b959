import type { Clock } from "../../../../core/clock.ts";

/**
 * Holds back all binds of a connector for minutes after the SMSC has refused its system_id, password or system_type: that does
 * not change by itself, and an SMSC locks out clients that insist. Then one bind tries, and the others only once that has been
 * accepted.
 */
export interface CredentialGate {
  /** Milliseconds until a bind may be tried; 0: now. While the gate is closed, only one caller gets a 0. */
  holdMs(): number;
  /** To be called when a bind was refused. Returns the milliseconds until the next try. */
  refused(reason: string): number;
  /** To be called when a bind was accepted. */
  passed(): void;
  /** Why no bind is tried, in words for the operator. */
  reason(): string;
}

const CREDENTIAL_DELAY_MS = 5 * 60_000;

/** How long the other binds wait for the answer to the one that tries. */
const TRIAL_MS = 30_000;

/** @param onAlarm called when the gate closes, with the reason, and when it opens; not in between */
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
