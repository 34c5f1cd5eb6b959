import type { Clock } from "../core/clock.ts";
import { createPlaces } from "../core/places.ts";
import { serviceUnavailable } from "./errors.ts";
import type { MaybePromise } from "./when-ready.ts";

/** Lists that are read at the same time. A page takes milliseconds, so that hundreds at once would keep all others waiting. */
const COUNT = 8;

/** Of one that finds no place: where the database does not answer, none comes free. */
const WAIT_MS = 5_000;

export interface ListPlaces {
  /**
   * Runs `read` when there is a place for it, in the order of the calls. A place is free again in the turn of the event loop
   * after the answer; that of a reader that `waits` for news, in the next turn. Refused if none is free in time.
   */
  read<T>(read: () => MaybePromise<T>, waits: boolean | undefined): Promise<T>;
}

export function createListPlaces(clock: Pick<Clock, "after">): ListPlaces {
  const places = createPlaces(clock, { count: COUNT, waitMs: WAIT_MS });
  return {
    async read(read, waits) {
      const leave = await places.enter();
      if (!leave) throw serviceUnavailable();
      try {
        if (waits) setImmediate(leave);
        return await read();
      } finally {
        if (!waits) setImmediate(leave);
      }
    },
  };
}
