import type { Clock } from "../../../../core/clock.ts";

/**
 * Holds back the binds of a connector for minutes after the SMSC has refused its system_id, password or system_type: that does
 * not change by itself, and an SMSC locks out clients that insist. Then one bind tries, and the others only once that has been
 * accepted. Binds that were up when another was refused are not held back: the SMSC knows the credentials, and refuses one bind
 * more, or another role.
 */
export interface CredentialGate {
  /** Milliseconds until this bind may be tried; 0: now. While the gate is closed to several, only one of them gets a 0. */
  holdMs(bind: object): number;
  /** To be called when this bind was refused. Returns the milliseconds until its next try. */
  refused(bind: object, reason: string): number;
  /** To be called when this bind was accepted. */
  passed(bind: object): void;
  /** To be called when this bind has ended, accepted or not. */
  left(bind: object): void;
  /** To be called when this bind is tried no more: its place went to another process, say. */
  gone(bind: object): void;
  /** Whether the SMSC refuses our credentials, as far as is known. */
  isClosed(): boolean;
  /** Why no bind is tried, in words for the operator. */
  reason(): string;
}

const CREDENTIAL_DELAY_MS = 5 * 60_000;

/** How long the other binds wait for the answer to the one that tries. */
const TRIAL_MS = 30_000;

/** How long the bind that was refused last leaves it to another to try. */
const GIVE_WAY_MS = 1_000;

interface Closed {
  readonly reason: string;
  until: number;
  /** The bind that was refused. It is not the next to try if others wait: the SMSC may refuse no other, and this one always. */
  readonly refused: object;
  hasGivenWay: boolean;
  /** The binds that are held back, `refused` among them. */
  readonly waiting: Set<object>;
  /** The binds that were up then. */
  readonly exempt: ReadonlySet<object>;
}

export function createCredentialGate(clock: Clock): CredentialGate {
  const up = new Set<object>();
  let closed: Closed | undefined;
  return {
    holdMs(bind) {
      if (!closed || closed.exempt.has(bind)) return 0;
      closed.waiting.add(bind);
      const holdMs = closed.until - clock.monotonicMs();
      if (holdMs > 0) return holdMs;
      if (bind === closed.refused && closed.waiting.size > 1 && !closed.hasGivenWay) {
        closed.hasGivenWay = true;
        return GIVE_WAY_MS;
      }
      closed.until += TRIAL_MS - holdMs;
      return 0;
    },
    refused(bind, reason) {
      const until = clock.monotonicMs() + CREDENTIAL_DELAY_MS;
      const waiting = new Set(closed?.waiting).add(bind);
      closed = { reason, until, refused: bind, hasGivenWay: false, waiting, exempt: new Set(up) };
      return CREDENTIAL_DELAY_MS;
    },
    passed(bind) {
      up.add(bind);
      // That the SMSC accepts those is known, and says nothing of the one that it refused.
      if (!closed?.exempt.has(bind)) closed = undefined;
    },
    left: (bind) => void up.delete(bind),
    gone(bind) {
      // The last of those that are held back: nobody here would learn that the SMSC accepts it again.
      if (closed?.waiting.delete(bind) && closed.waiting.size === 0) closed = undefined;
    },
    isClosed: () => closed !== undefined,
    reason: () => `${closed?.reason ?? "the SMSC refused us"}; tried again every 5 minutes`,
  };
}
