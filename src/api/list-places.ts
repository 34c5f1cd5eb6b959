import type { MaybePromise } from "./when-ready.ts";

/** Lists that are read at the same time. A page takes milliseconds, so that hundreds at once would keep all others waiting. */
const PLACES = 8;

export interface ListPlaces {
  /**
   * Runs `read` when there is a place for it, in the order of the calls. A place is free again in the turn of the event loop
   * after the answer; that of a reader that `waits` for news, in the next turn.
   */
  read<T>(read: () => MaybePromise<T>, waits: boolean | undefined): Promise<T>;
}

export function createListPlaces(): ListPlaces {
  const waiting: (() => void)[] = [];
  let free = PLACES;

  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else free++;
  };
  return {
    async read(read, waits) {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        if (waits) setImmediate(leave);
        return await read();
      } finally {
        if (!waits) setImmediate(leave);
      }
    },
  };
}
