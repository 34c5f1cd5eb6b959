import type { Clock } from "../../core/clock.ts";

/**
 * How good something has lately been, from 0 (bad) to 1 (good): an exponentially weighted average of what was observed.
 * Each observation moves it a tenth of the way. Without observations, its distance from 1 halves every ten minutes. Seven bad
 * observations in a row bring it from 1 to below a half.
 */
export interface RecentScore {
  note(isGood: boolean): void;
  value(): number;
}

const STEP = 0.1;
const HALF_LIFE_MS = 600_000;

export function createRecentScore(clock: Clock): RecentScore {
  let shortfall = 0;
  let atMs = clock.monotonicMs();
  const decay = () => {
    const nowMs = clock.monotonicMs();
    shortfall *= 0.5 ** ((nowMs - atMs) / HALF_LIFE_MS);
    atMs = nowMs;
  };
  return {
    note(isGood) {
      if (isGood && shortfall === 0) return;
      decay();
      shortfall += STEP * ((isGood ? 0 : 1) - shortfall);
    },
    value() {
      decay();
      return 1 - shortfall;
    },
  };
}
