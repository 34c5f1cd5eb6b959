/** What two engines have handed out, each under its own numbers, side by side. */
import type { Ground } from "./engine-ground.ts";

export type Pair<T> = readonly [one: T, other: T];

export function byKey<T>(keyOf: (each: T) => string): (one: T, other: T) => number {
  return (one, other) => (keyOf(one) < keyOf(other) ? -1 : 1);
}

export function pairs<T>([some, others]: Pair<readonly T[]>, keyOf: (each: T) => string): readonly Pair<T>[] {
  const found = new Map(others.map((each) => [keyOf(each), each]));
  return some.map((each) => [each, found.get(keyOf(each)) as T] as const);
}

/** A few, perhaps several claims of one job; now and then one that stays in hand, and is settled again later. */
export function takeSome<T extends { readonly messageId: string; readonly claim: number }>(
  { dice }: Pick<Ground, "dice">,
  pool: Pair<T>[],
): readonly Pair<T>[] {
  const taken = new Map<string, Pair<T>>();
  for (let count = dice.between(1, 3); count > 0 && pool.length > 0; count--) {
    const at = dice.between(0, pool.length - 1);
    const [pair] = dice.chance(0.1) ? [pool[at]] : pool.splice(at, 1);
    if (pair) taken.set(`${pair[0].messageId} ${pair[0].claim}`, pair);
  }
  return [...taken.values()];
}
