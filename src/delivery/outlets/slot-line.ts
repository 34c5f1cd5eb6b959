/**
 * The line of workers that wait for a free slot, first come first served. Routes may share a connector, and the worker of a
 * long queue must not take every slot that becomes free.
 */
export interface SlotLine {
  /** Adds a worker at the end. One that is in line already keeps its place. */
  join(wake: () => void): void;
  leave(wake: () => void): void;
  /** To be called when slots may have become free: wakes all workers in line, in order. */
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
