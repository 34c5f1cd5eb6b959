import type { Clock } from "./clock.ts";

/** Room for so many at a time; the others wait in line. */
export interface Places {
  /**
   * Resolves, in the order of the calls, with the function that gives the place back. It is to be called once.
   * `undefined`: none was free in time.
   */
  enter(): Promise<(() => void) | undefined>;
}

export function createPlaces(
  clock: Pick<Clock, "after">,
  { count, waitMs }: { readonly count: number; readonly waitMs: number },
): Places {
  const line = new Set<() => void>();
  let free = count;

  const leave = () => {
    const [next] = line;
    if (next) next();
    else free++;
  };
  const wait = () =>
    new Promise<(() => void) | undefined>((resolve) => {
      const end = (place: (() => void) | undefined) => {
        line.delete(enter);
        cancel();
        resolve(place);
      };
      const enter = () => end(leave);
      const cancel = clock.after(waitMs, () => end(undefined));
      line.add(enter);
    });
  return {
    async enter() {
      if (free === 0) return wait();
      free--;
      return leave;
    },
  };
}
