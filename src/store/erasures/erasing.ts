import { errorText } from "../../core/error-text.ts";
import { HOUR_MS } from "../../core/time/durations.ts";
import { isOutage, RowPutOff } from "../outage.ts";
import { createPutOffRows } from "../pass-over.ts";
import type { ErasureRow } from "./erasure-work.ts";

/** How long an erasure of which something is left waits before it begins again. */
const AGAIN_MS = HOUR_MS;

interface Erasing {
  readonly now: number;
  /** About how many rows to examine. */
  readonly looks: number;
  /** Goes a stretch further with the oldest erasure that does not wait. Calls `take` with its row before anything fails. */
  erase(looks: number, parts: ErasingParts): Promise<number>;
  /** Goes on to the next walk. Does nothing if the erasure has gone on meanwhile. */
  pass(row: ErasureRow): Promise<unknown>;
}

export interface ErasingParts {
  /** Ids of erasures that wait. */
  readonly waiting: readonly string[];
  readonly take: (row: ErasureRow) => void;
  /** To be called when an erasure has come to its end and something is left. */
  readonly waitLonger: (id: string) => void;
}

/**
 * Makes a function that goes on with erasures, and passes over rows that cannot be erased: a stretch that fails is made shorter and shorter,
 * and then the rest of its walk is left for the next time. Such an erasure is not done, begins again an hour after its end, and keeps no
 * other waiting.
 */
export function createErasing(): (erasing: Erasing) => Promise<number> {
  const waits = createPutOffRows<string>();
  return async ({ now, looks, erase, pass }) => {
    const waiting = waits.ids(now);
    const waitLonger = (id: string) => waits.add(id, now + AGAIN_MS);
    for (let most = looks; ; most = Math.ceil(most / 8)) {
      let row: ErasureRow | undefined;
      const take = (taken: ErasureRow) => {
        row = taken;
      };
      try {
        return await erase(most, { waiting, take, waitLonger });
      } catch (error) {
        if (isOutage(error) || !row) throw error;
        if (most > 1) continue;
        await pass(row);
        throw new RowPutOff(`erasure ${row.id}, a part of it put off: ${errorText(error)}`);
      }
    }
  };
}
