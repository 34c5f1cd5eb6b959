/** On whose behalf jobs and webhooks are claimed. */
export interface Claimant {
  /**
   * The process, by the name of its turns (`LeaseStore`): when it is buried (taken for dead), its leases end. Absent while
   * it is not sure of its turns: then a lease lasts until its own end.
   */
  readonly process?: string;
  /**
   * False once the process may have been buried, and others may have taken up what it had claimed. True means that this
   * will not be so for some seconds, so that an attempt may begin.
   */
  isOurs(): boolean;
}

/** Where no other process delivers, or none buries this one. */
export const NOBODY_ELSE: Claimant = { isOurs: () => true };
