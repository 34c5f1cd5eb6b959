/**
 * Leases of what only one process at a time may have: a slot of a connector. They have no end time, so no two clocks have
 * to agree: a process that sees no heartbeat of another for long enough, by its own clock, may declare it dead.
 */
export interface LeaseStore {
  /**
   * One heartbeat of a process, in one transaction: it shows that the process is alive, removes dead processes, and keeps,
   * gives up and takes leases. Resolves with the state after that. The claims of a removed process (`Claimant`) end: its
   * jobs and webhooks are treated as if their leases had expired, except those that another transaction is writing at that
   * moment.
   */
  heartbeat(beat: Heartbeat): Promise<LeaseSnapshot>;
  /** Removes the process and its leases; others may take them at once. Does nothing if it is not known (any more). */
  leave(process: string): Promise<void>;
}

export interface Heartbeat {
  /** A name that no other process has or had. */
  readonly process: string;
  /** Whether it wants slots of connectors. Otherwise its heartbeats serve only to end its claims when it dies. */
  readonly isSharing: boolean;
  /** Its leases that it keeps; it gives up the others. This does not bring back a lease that it has lost. */
  readonly keep: readonly KeptLease[];
  /** Slots that it wants; it gets those that are free. */
  readonly take: readonly Slot[];
  /** Unix milliseconds: when the claims of the processes removed now count as ended. */
  readonly now: number;
  /** Processes that seem dead, each with the heartbeat last seen. Those that have had none since are removed. */
  readonly dead: readonly LeaseProcess[];
}

export interface Slot {
  /** The connector's id. */
  readonly name: string;
  /** From 0. */
  readonly slot: number;
}

export interface KeptLease extends Slot {
  /** Shown to other processes: this one is connected there. */
  readonly isUp: boolean;
}

export interface LeaseProcess {
  readonly process: string;
  /** The number of its last heartbeat. It changes with each and never repeats. */
  readonly heartbeat: number;
}

export interface LiveProcess extends LeaseProcess {
  /** As of its last heartbeat. */
  readonly isSharing: boolean;
}

/** All processes that are alive, and the slots they have. */
export interface LeaseSnapshot {
  /** The process was not known before this heartbeat: it is its first, or the process had been declared dead. */
  readonly isNew: boolean;
  readonly processes: readonly LiveProcess[];
  readonly leases: readonly SlotLease[];
}

/** A slot, and the process that has it. */
export interface SlotLease extends KeptLease {
  readonly process: string;
}
