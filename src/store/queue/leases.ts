/**
 * Leases of slots of connectors: each slot belongs to one process at a time. A lease has no end time, so that no two clocks
 * have to agree. Instead, a process that has seen no heartbeat of another for long enough, by its own clock, may declare that
 * one dead.
 */
export interface LeaseStore {
  /**
   * One heartbeat of a process, in one transaction: shows that the process is alive, removes dead processes, and keeps, gives
   * up and takes leases. Resolves with the state after that. Removing a process ends its claims (`Claimant`): its jobs and
   * webhooks are treated as if their leases had expired, except those that another transaction is writing at that moment.
   */
  heartbeat(beat: Heartbeat): Promise<LeaseSnapshot>;
  /** Removes the process and its leases, which others may take at once. Does nothing if the process is not known (any more). */
  leave(process: string): Promise<void>;
}

export interface Heartbeat {
  /** A name that no other process has, or ever had. */
  readonly process: string;
  /** Whether it wants slots of connectors. If not, its heartbeats only serve to end its claims when it dies. */
  readonly isSharing: boolean;
  /** The leases that it keeps. It gives up its others; naming a lease that it has lost does not bring it back. */
  readonly keep: readonly KeptLease[];
  /** The slots that it wants. It gets those that are free. */
  readonly take: readonly Slot[];
  /** When the claims of processes that this heartbeat removes count as ended, Unix milliseconds. */
  readonly now: number;
  /** Processes that seem dead, each with the last heartbeat that was seen. Those without a later one are removed. */
  readonly dead: readonly LeaseProcess[];
}

export interface Slot {
  /** The connector's id. */
  readonly name: string;
  /** From 0. */
  readonly slot: number;
}

export interface KeptLease extends Slot {
  /** Tells the other processes whether this one is connected by the slot. */
  readonly isUp: boolean;
}

export interface LeaseProcess {
  readonly process: string;
  /** The number of its last heartbeat. Each heartbeat has another, and no number repeats. */
  readonly heartbeat: number;
}

export interface LiveProcess extends LeaseProcess {
  /** As of its last heartbeat. */
  readonly isSharing: boolean;
}

/** All processes that are alive, and the slots that they have. */
export interface LeaseSnapshot {
  /** The process was not known before this heartbeat: it is new, or had been declared dead. */
  readonly isNew: boolean;
  readonly processes: readonly LiveProcess[];
  readonly leases: readonly SlotLease[];
}

/** A slot, and the process that has it. */
export interface SlotLease extends KeptLease {
  readonly process: string;
}
