/** For whom something is claimed. */
export interface Claimant {
  /**
   * By the name of its turns (`LeaseStore`): when the process is buried, the lease ends. Absent while it is not sure of its
   * turns: then what is claimed is nobody's who could be buried.
   */
  readonly process?: string;
  /**
   * False once the process may have been buried since, and what it had claimed taken up by others. Where it is true it
   * will be for some seconds: an attempt may begin.
   */
  isOurs(): boolean;
}

/** For the one process that there is, and for one that nobody buries. */
export const NOBODY_ELSE: Claimant = { isOurs: () => true };
