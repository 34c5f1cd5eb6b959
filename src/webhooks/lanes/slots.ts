/**
 * Counts the deliveries under way and limits them, so that slow hosts leave room for quick and new ones, and no account takes
 * all of it. Knows accounts and paces, not hosts.
 */

/**
 * How a lane has been lately. `quick`: answers within a second; `new`: not tried yet; `slow`: takes longer; `failing`: takes
 * longer, and fails.
 */
export type Pace = "quick" | "new" | "slow" | "failing";

/** How many deliveries may be under way of a pace and of those before it, in the order of `PACES`. */
export type Budgets = Readonly<Record<Pace, number>>;

export interface Slots {
  /** How many more deliveries of that pace the account may begin. */
  free(accountId: string, pace: Pace): number;
  take(accountId: string, pace: Pace): void;
  giveBack(accountId: string, pace: Pace): void;
  taken(): number;
}

/** Each pace has room that those before it cannot take. */
const PACES: readonly Pace[] = ["failing", "slow", "new", "quick"];

/**
 * One account may hold at most this many times what is still free of a pace: alone it gets four fifths, and the next account
 * finds room. (Choudhury and Hahne's dynamic thresholds for shared buffers.) Each pace counts by itself, since an account's
 * slow hosts must not delay its other ones.
 */
const SHARE = 4;

export function createSlots(budgets: Budgets): Slots {
  const used: Record<Pace, number> = { quick: 0, new: 0, slow: 0, failing: 0 };
  const held: Readonly<Record<Pace, Map<string, number>>> = {
    quick: new Map(),
    new: new Map(),
    slow: new Map(),
    failing: new Map(),
  };

  const leftOf = (pace: Pace): number => {
    let left = Number.POSITIVE_INFINITY;
    let taken = 0;
    for (const [index, each] of PACES.entries()) {
      taken += used[each];
      if (index >= PACES.indexOf(pace)) left = Math.min(left, budgets[each] - taken);
    }
    return left;
  };
  const change = (accountId: string, pace: Pace, by: 1 | -1) => {
    used[pace] += by;
    const now = (held[pace].get(accountId) ?? 0) + by;
    if (now === 0) held[pace].delete(accountId);
    else held[pace].set(accountId, now);
  };

  return {
    free(accountId, pace) {
      const left = leftOf(pace);
      // The most n with held + n <= SHARE * (left - n): each place that is taken is one fewer left.
      const fair = Math.floor((SHARE * left - (held[pace].get(accountId) ?? 0)) / (SHARE + 1));
      return Math.max(0, Math.min(left, fair));
    },
    take: (accountId, pace) => change(accountId, pace, 1),
    giveBack: (accountId, pace) => change(accountId, pace, -1),
    taken: () => used.quick + used.new + used.slow + used.failing,
  };
}
