/** The process on whose behalf jobs and webhooks are claimed. */
export interface Claimant {
  /**
   * Its name in its heartbeats (`LeaseStore`): when it is declared dead, its leases end. Absent while its last heartbeat is too
   * old to rely on; then a lease lasts until its end time.
   */
  readonly process?: string;
  /**
   * False once the process may have been declared dead, so that others may have taken over what it had claimed. True means that
   * this will not happen within the next seconds, so an attempt may begin.
   */
  isOurs(): boolean;
  /** Nothing is to be claimed for now; to be asked again after `MUST_WAIT_MS`. */
  readonly mustWait?: true;
}

/** As long as a heartbeat may take on a slow network. */
export const MUST_WAIT_MS = 50;

/** The claimant if no other process delivers, or if none would declare this one dead. */
export const NOBODY_ELSE: Claimant = { isOurs: () => true };

/** The claimant until it is known whether this process was declared dead. */
export const NOT_YET: Claimant = { isOurs: () => false, mustWait: true };
