/**
 * What only one process at a time may have: a place (slot) at a connector. No time is involved, so that no two
 * clocks have to agree: whoever has seen a process stand still for long enough, by its own clock, may say so.
 */
export interface LeaseStore {
  /**
   * One turn of a process, in one transaction: it shows that it lives, buries those that stood still, keeps, gives up
   * and takes. Resolves with how things are then. The claims of a buried process (`Claimant`) end with it:
   * their jobs and webhooks are found again as those of which the lease ran out, but for those that somebody is writing about just then.
   */
  turn(turn: LeaseTurn): Promise<LeaseBoard>;
  /** The process and all that it has are gone; others may take it at once. */
  leave(process: string): Promise<void>;
}

export interface LeaseTurn {
  /** A name that no other process has or had. */
  readonly process: string;
  /** Whether it takes part in sharing out connectors. Otherwise it turns only so that its claims end with it. */
  readonly isSharing: boolean;
  /** Of its leases, those that go on; the others are given up. One that it has lost is not had again by this. */
  readonly keep: readonly KeptLease[];
  /** Slots wanted; those that are free by now are had. */
  readonly take: readonly Slot[];
  /** Unix milliseconds: when the claims of those that are buried now are to have ended. */
  readonly now: number;
  /** Processes taken for dead, with the number last seen of each: where it is still that, they are gone with all they had. */
  readonly dead: readonly LeaseProcess[];
}

export interface Slot {
  /** Of a connector. */
  readonly name: string;
  /** From 0. */
  readonly slot: number;
}

export interface KeptLease extends Slot {
  /** For others to see: messages can leave here. */
  readonly isUp: boolean;
}

export interface LeaseProcess {
  readonly process: string;
  /** Another one after every turn, and never the same again. */
  readonly turn: number;
}

export interface LiveProcess extends LeaseProcess {
  /** As it said with that turn. */
  readonly isSharing: boolean;
}

export interface LeaseBoard {
  /** The process that took the turn was not known before: it is its first, or it was buried. */
  readonly isNew: boolean;
  readonly processes: readonly LiveProcess[];
  readonly leases: readonly Lease[];
}

export interface Lease extends KeptLease {
  readonly process: string;
}
