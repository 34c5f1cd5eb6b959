/** Passing over rows that cannot be read, since a page of their table or of its index is damaged. */
import { UNREADABLE_MS } from "../pass-over.ts";
import type { Database } from "./database/database.ts";
import { isDamage } from "./database/driver.ts";

/** Keys as whole numbers, in the order in which SQLite has them. */
export interface Keys<Key> {
  /** Below all keys. */
  readonly start: Key;
  readonly highest: bigint;
  toInteger(key: Key): bigint;
  fromInteger(value: bigint): Key;
}

export const NUMBERS: Keys<number> = {
  start: 0,
  highest: BigInt(Number.MAX_SAFE_INTEGER),
  toInteger: BigInt,
  fromInteger: Number,
};

export const UUIDS: Keys<string> = {
  start: "",
  highest: (1n << 128n) - 1n,
  toInteger: (id) => BigInt(`0x0${id.replaceAll("-", "")}`),
  fromInteger: (value) =>
    value
      .toString(16)
      .padStart(32, "0")
      .replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5"),
};

interface Unread<Key> {
  readonly after: Key;
  /** How many rows to look at. */
  readonly steps: number;
  readonly now: number;
  /** The key of the first row with a higher key; `undefined`: there is none. */
  readonly next: (after: Key) => Key | undefined;
}

export interface UnreadableRows<Key> {
  /** Where to begin in place of `after`: behind what was passed over last, for an hour. `undefined`: nothing behind that can be read. */
  from(after: Key, now: number): Key | undefined;
  /**
   * Looks at the next rows. If one cannot be read, passes over all from there to where rows can be read again, and resolves with what the
   * log calls them.
   */
  pass(unread: Unread<Key>): Promise<string | undefined>;
}

export function createUnreadableRows<Key extends number | string>(
  db: Database,
  { table, keys }: { readonly table: string; readonly keys: Keys<Key> },
): UnreadableRows<Key> {
  let passed: { readonly to: Key; readonly at: number } | undefined;
  return {
    from(after, now) {
      // A time ahead was taken from a clock that has been set back since.
      if (passed && Math.abs(now - passed.at) >= UNREADABLE_MS) passed = undefined;
      if (!passed || passed.to <= after) return after;
      return keys.toInteger(passed.to) < keys.highest ? passed.to : undefined;
    },
    async pass(unread) {
      const gap = await db.read(() => findGap(keys, unread));
      if (!gap) return undefined;
      passed = { to: gap.to, at: unread.now };
      return `${table} behind ${gap.from === keys.start ? "the start" : gap.from} up to ${gap.to}`;
    },
  };
}

/**
 * Reads, and if a page that is met is damaged, calls `pass` with the lowest key behind which rows can be read again, before it throws;
 * `undefined`: nothing behind can be read.
 *
 * @param next see `Unread`
 */
export function readOrPass<Key, Result>(
  read: () => Result,
  { keys, after, next }: Pick<Unread<Key>, "after" | "next"> & { readonly keys: Keys<Key> },
  pass: (to: Key | undefined) => void,
): Result {
  try {
    return read();
  } catch (error) {
    const gap = isDamage(error) ? findGap(keys, { after, steps: 1, next }) : undefined;
    if (gap) pass(keys.toInteger(gap.to) < keys.highest ? gap.to : undefined);
    throw error;
  }
}

function findGap<Key>(keys: Keys<Key>, { after, steps, next }: Omit<Unread<Key>, "now">) {
  const isReadable = (from: bigint): boolean => nextOr(() => next(keys.fromInteger(from))) !== UNREADABLE;
  let from = after;
  for (let step = 0; step < steps; step++) {
    const key = nextOr(() => next(from));
    if (key === UNREADABLE) return { from, to: keys.fromInteger(firstReadable(keys, from, isReadable)) };
    if (key === undefined) return undefined;
    from = key;
  }
  return undefined;
}

const UNREADABLE = Symbol("unreadable");

function nextOr<Key>(next: () => Key): Key | typeof UNREADABLE {
  try {
    return next();
  } catch (error) {
    if (isDamage(error)) return UNREADABLE;
    throw error;
  }
}

/** The lowest key behind which rows can be read again, by doubling steps and then halves of the last one. */
function firstReadable<Key>(
  { toInteger, highest }: Keys<Key>,
  unreadable: Key,
  isReadable: (after: bigint) => boolean,
): bigint {
  let low = toInteger(unreadable);
  let high = low + 1n;
  for (let step = 2n; high < highest && !isReadable(high); step *= 2n) {
    low = high;
    high = low + step;
  }
  if (high > highest) high = highest;
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (isReadable(middle)) high = middle;
    else low = middle;
  }
  return high;
}
