import type { Clock } from "../clock.ts";
import { waitAtMost } from "./wait-at-most.ts";

/** Lets at most `count` callers work at the same time. The others wait, in the order of their calls. */
export interface Semaphore {
  /** Resolves with the function that releases the permit, to be called once; `undefined` if none was free in time. */
  acquire(): Promise<(() => void) | undefined>;
}

export function createSemaphore(
  clock: Pick<Clock, "after">,
  { count, waitMs }: { readonly count: number; readonly waitMs: number },
): Semaphore {
  const line = new Set<() => void>();
  let free = count;

  const release = () => {
    const [next] = line;
    if (next) next();
    else free++;
  };
  const wait = () =>
    waitAtMost<() => void>(clock, { limitMs: waitMs }, (end) => {
      const proceed = () => end(release);
      line.add(proceed);
      return () => line.delete(proceed);
    });
  return {
    async acquire() {
      if (free === 0) return wait();
      free--;
      return release;
    },
  };
}
