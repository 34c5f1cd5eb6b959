/** Random numbers by a seed: the same seed gives the same sequence. */
export interface Chance {
  /** A whole number from 0 to just below `bound`. */
  below(bound: number): number;
  /** True with a probability of `percent` %. */
  is(percent: number): boolean;
  pick<T>(all: readonly T[]): T;
  /** A new one, whose sequence does not depend on further draws from this one. */
  fork(): Chance;
}

/** SplitMix32. */
export function createChance(seed: number): Chance {
  let state = seed | 0;
  const below = (bound: number) => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % bound;
  };
  return {
    below,
    is: (percent) => below(100) < percent,
    pick: (all) => all[below(all.length)]!,
    fork: () => createChance(below(2 ** 31)),
  };
}
