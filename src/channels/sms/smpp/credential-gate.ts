import type { Clock } from "../../../core/clock.ts";

/**
 * Who is refused by name or password waits minutes, with all binds of the connector: a wrong password does not mend
 * itself, and an SMSC locks out those who insist. Then one bind tries, and the others after it.
 */
export interface CredentialGate {
  /** Milliseconds until a bind may be tried; 0 if it may. */
  holdMs(): number;
  /** Milliseconds until the next try. */
  refused(reason: string): number;
  /** A bind was accepted. */
  passed(): void;
  /** Why there is to be no bind, in words. */
  reason(): string;
}

const CREDENTIAL_DELAY_MS = 5 * 60_000;

/** Time for the one bind that tries to be answered, before the others follow. */
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
    reason: () => `${closed?.reason ?? "the SMSC refused us"}; next try in 5 minutes`,
  };
}
