import type { Clock } from "../clock.ts";
import { waitAtMost } from "./wait-at-most.ts";

/** Lets at most `count` callers work at the same time. The others wait, in the order of their calls; callers of several clients take turns. */
export interface Semaphore {
  /**
   * Resolves with the function that releases the permit, to be called once; `undefined` if none was free in time.
   *
   * @param client on whose behalf: however many of one client's callers wait, another client's is not behind them all
   */
  acquire(client?: string): Promise<(() => void) | undefined>;
}

export function createSemaphore(
  clock: Pick<Clock, "after">,
  { count, waitMs }: { readonly count: number; readonly waitMs: number },
): Semaphore {
  /** By client, in the order of their turns: none without callers. */
  const lines = new Map<string, Set<() => void>>();
  let free = count;

  const join = (client: string, proceed: () => void) => {
    const line = lines.get(client) ?? new Set();
    lines.set(client, line.add(proceed));
    return () => {
      line.delete(proceed);
      if (line.size === 0 && lines.get(client) === line) lines.delete(client);
    };
  };
  const release = () => {
    const [next] = lines;
    if (!next) return void free++;
    const [client, line] = next;
    // To the end, for as long as others of it wait.
    lines.delete(client);
    lines.set(client, line);
    const [proceed] = line;
    proceed?.();
  };
  const wait = (client: string) =>
    waitAtMost<() => void>(clock, { limitMs: waitMs }, (end) => join(client, () => end(release)));
  return {
    async acquire(client = "") {
      if (free === 0) return wait(client);
      free--;
      return release;
    },
  };
}
