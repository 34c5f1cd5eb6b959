import type { Clock } from "./clock.ts";

/** Lets at most `count` callers work at the same time; the others wait in the order of their calls. */
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
    new Promise<(() => void) | undefined>((resolve) => {
      const end = (permit: (() => void) | undefined) => {
        line.delete(proceed);
        cancel();
        resolve(permit);
      };
      const proceed = () => end(release);
      const cancel = clock.after(waitMs, () => end(undefined));
      line.add(proceed);
    });
  return {
    async acquire() {
      if (free === 0) return wait();
      free--;
      return release;
    },
  };
}
