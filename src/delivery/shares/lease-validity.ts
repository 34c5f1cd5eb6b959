import type { Clock } from "../../core/clock.ts";

/** Whether this process may use its leases: for `validMs`, counted from the beginning of the last successful heartbeat. */
export interface LeaseValidity {
  isValid(): boolean;
  /** A function that tells whether the leases have been valid ever since this call; `undefined` if they are not valid now. */
  validFromNow(): (() => boolean) | undefined;
  /** To be called when a heartbeat begins. Returns what to call if it succeeds; `isNew`: the database did not know the process before. */
  begin(): (isNew: boolean) => void;
}

export function createLeaseValidity(clock: Clock, validMs: number): LeaseValidity {
  /** When the last successful heartbeat began, on the monotonic clock and on the wall. */
  let renewed = { ms: Number.NEGATIVE_INFINITY, at: Number.NEGATIVE_INFINITY };
  /** How many times the leases have become invalid. */
  let gaps = 0;
  /** Whether a heartbeat after the last successful one was not answered. The database may have had it, and told it `isNew` in vain. */
  let isUnanswered = false;
  const isValid = () => clock.monotonicMs() - renewed.ms < validMs;
  /**
   * While the machine is asleep the monotonic clock of Linux stands still, and the others do not. The wall clock tells; it may also have been set
   * forward, so connections stay open for this, and the next heartbeat decides whether what was claimed is still ours.
   */
  const mayHaveSlept = () => clock.now() - renewed.at >= validMs;
  const isSure = () => isValid() && !mayHaveSlept();
  return {
    isValid,
    validFromNow() {
      const before = gaps;
      return isSure() ? () => isSure() && gaps === before : undefined;
    },
    begin() {
      const started = { ms: clock.monotonicMs(), at: clock.now() };
      const mayHaveMissed = isUnanswered;
      isUnanswered = true;
      return (isNew) => {
        // A process that the database no longer knew had been removed as dead.
        if (isNew || !isValid() || (mayHaveMissed && mayHaveSlept())) gaps++;
        isUnanswered = false;
        renewed = started;
      };
    },
  };
}
