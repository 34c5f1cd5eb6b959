/**
 * Workers that found no free slot, in the order in which they came. Routes may share a connector, and the worker of
 * one with a long queue must not take every slot that comes free.
 */
export interface SlotLine {
  /** Who stands in the line keeps its place. */
  join(wake: () => void): void;
  leave(wake: () => void): void;
  /** Slots may have come free: wakes all, who has waited longest first. */
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
