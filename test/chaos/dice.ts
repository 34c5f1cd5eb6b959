/** Random numbers by a seed: the same seed gives the same sequence. */
export interface Dice {
  /** In [0, 1). */
  next(): number;
  /** From `least` to `most`, both included. */
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  /** One of the names, with a probability in proportion to its weight. */
  pick<K extends string>(weights: Readonly<Record<K, number>>): K;
  oneOf<T>(things: readonly T[]): T;
}

export function createDice(seed: string): Dice {
  let state = hashOf(seed);
  const next = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick<K extends string>(weights: Readonly<Record<K, number>>): K {
      const entries = Object.entries(weights) as [K, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) {
        left -= weight;
        if (left < 0) return name;
      }
      return entries.at(-1)![0];
    },
    oneOf: (things) => things[between(0, things.length - 1)]!,
  };
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const octet of Buffer.from(text)) hash = Math.imul(hash ^ octet, 0x01000193);
  return hash ^ (hash >>> 15);
}
