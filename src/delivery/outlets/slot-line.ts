/**
 * Workers that wait for a free slot, first come first served. Routes may share a connector, and the worker of a long
 * queue must not take every slot that comes free.
 */
export interface SlotLine {
  /** Joining again keeps the place. */
  join(wake: () => void): void;
  leave(wake: () => void): void;
  /** Slots may have come free: wakes all that wait, the longest waiting first. */
  call(): void;
}

export function createSlotLine(): SlotLine {
  const line = new Set<() => void>();
  return {
    join: (wake) => void line.add(wake),
    leave: (wake) => void line.delete(wake),
    call() {
      for (const wake of [...line]) wake();
    },
  };
}
