import type { Clock } from "../../../core/clock.ts";

/** A look from the start that takes less time may be taken each time, so that on a busy server too a shorter window goes first at once. */
export const SLOW_MS = 250;

/** How many times as long as it took no other is due after a slow one. */
const PAUSES = 4;

/** A look may seem to take hours where the process was stopped meanwhile. None that ends takes much longer than a statement may. */
const MAX_PAUSE_MS = 40_000;

/**
 * Says when a look for rows is to begin at the start of its index. While some transaction on the server stays open, vacuum cannot remove
 * the rows that are done, and such a look passes over all of them. So once one has been slow, the next ones begin where something was
 * found last, and only a fifth of the time at most goes to looks from the start. What comes to lie before those places is found later by
 * four times as long as such a look takes, and by 40 s at the most. The times of its parts are added; a part that comes during the pause
 * makes it longer only by what that part took.
 */
export interface WholeLooks {
  isDue(): boolean;
  /** To be called before a look. Until the next call all that is timed is part of it. */
  begin(): void;
  /** Runs a part of a look from the start, and notes how long it took, unless that is less than `leastMs`, also if it fails. */
  timed<T>(look: () => Promise<T>, leastMs?: number): Promise<T>;
}

export function createWholeLooks(clock: Pick<Clock, "monotonicMs">): WholeLooks {
  let dueAtMs = Number.NEGATIVE_INFINITY;
  let tookMs = 0;
  return {
    isDue: () => clock.monotonicMs() >= dueAtMs,
    begin() {
      tookMs = 0;
      dueAtMs = Number.NEGATIVE_INFINITY;
    },
    async timed(look, leastMs = 0) {
      const startedMs = clock.monotonicMs();
      try {
        return await look();
      } finally {
        const endedMs = clock.monotonicMs();
        const passedMs = endedMs - startedMs;
        const partMs = passedMs < leastMs ? 0 : passedMs;
        tookMs += partMs;
        if (tookMs >= SLOW_MS) {
          const isPause = dueAtMs > Number.NEGATIVE_INFINITY;
          const pauseFrom = isPause ? Math.max(dueAtMs + partMs, endedMs) : endedMs;
          const pauseMs = PAUSES * (isPause ? partMs : tookMs);
          dueAtMs = Math.min(pauseFrom + pauseMs, endedMs + MAX_PAUSE_MS);
        }
      }
    },
  };
}
