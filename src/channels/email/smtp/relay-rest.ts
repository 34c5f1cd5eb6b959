import type { Clock } from "../../../core/clock.ts";

/** A relay that says that we send too fast is left alone for a while, all its connections together. */
export interface RelayRest {
  isOn(): boolean;
  /** The relay throttles. Mails under way when it began to may be throttled as well: that changes nothing. Returns the milliseconds that are left. */
  begin(): number;
  /** The relay has taken a mail: the next rest is as short as the first. */
  forget(): void;
  stop(): void;
}

/** Providers count by the second. Where a rest was not enough, such as at the end of a day's quota, the next takes twice as long. */
const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

/** @param onOver called when a rest is over */
export function createRelayRest(clock: Clock, onOver: () => void): RelayRest {
  let nextMs = FIRST_MS;
  let untilMs = Number.NEGATIVE_INFINITY;
  let cancel = () => {};
  const leftMs = () => Math.max(0, untilMs - clock.monotonicMs());
  return {
    isOn: () => leftMs() > 0,
    begin() {
      if (leftMs() > 0) return leftMs();
      untilMs = clock.monotonicMs() + nextMs;
      cancel = clock.after(nextMs, onOver);
      nextMs = Math.min(2 * nextMs, LONGEST_MS);
      return leftMs();
    },
    forget() {
      nextMs = FIRST_MS;
    },
    stop: () => cancel(),
  };
}
