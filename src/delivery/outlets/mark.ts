import type { Clock } from "../../core/clock.ts";

/**
 * How good something has lately been, from 0 to 1: each observation moves it by a tenth of the way, and what nobody
 * confirms is forgotten by half every ten minutes. Seven bad ones in a row bring it below a half.
 */
export interface Mark {
  note(isGood: boolean): void;
  value(): number;
}

const STEP = 0.1;
const HALF_LIFE_MS = 600_000;

export function createMark(clock: Clock): Mark {
  let shortfall = 0;
  let atMs = clock.monotonicMs();
  const forget = () => {
    const nowMs = clock.monotonicMs();
    shortfall *= 0.5 ** ((nowMs - atMs) / HALF_LIFE_MS);
    atMs = nowMs;
  };
  return {
    note(isGood) {
      if (isGood && shortfall === 0) return;
      forget();
      shortfall += STEP * ((isGood ? 0 : 1) - shortfall);
    },
    value() {
      forget();
      return 1 - shortfall;
    },
  };
}
