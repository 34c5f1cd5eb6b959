/** On whose behalf jobs and webhooks are claimed. */
export interface Claimant {
  /**
   * The process, by the name in its heartbeats (`LeaseStore`): when it is declared dead, its leases end. Absent while its
   * last heartbeat is too old to rely on: then a lease lasts until its own end.
   */
  readonly process?: string;
  /**
   * False once the process may have been declared dead, and others may have taken up what it had claimed. True means that this
   * will not be so for some seconds, so that an attempt may begin.
   */
  isOurs(): boolean;
}

/** Where no other process delivers, or none would declare this one dead. */
export const NOBODY_ELSE: Claimant = { isOurs: () => true };
