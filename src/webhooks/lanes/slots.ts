/**
 * Counts the deliveries under way and limits them, so that slow hosts leave room for quick ones, and no account takes all
 * of it. Knows accounts and paces, not hosts.
 */

/** How a lane has been lately. `quick`: answers within a second; `unproven`: new, or well but slow; `slow`: slow and failing. */
export type Pace = "quick" | "unproven" | "slow";

export interface Budgets {
  readonly total: number;
  /** Of the total, for all lanes that are not quick. */
  readonly unproven: number;
  /** Of these, for the slow ones. */
  readonly slow: number;
}

export interface Slots {
  /** How many more deliveries of that pace the account may begin. */
  free(accountId: string, pace: Pace): number;
  take(accountId: string, pace: Pace): void;
  giveBack(accountId: string, pace: Pace): void;
  taken(): number;
}

/**
 * One account may hold at most this many times what is still free: alone it gets four fifths, and the next account finds
 * room. (Choudhury and Hahne's dynamic thresholds for shared buffers.)
 */
const SHARE = 4;

export function createSlots(budgets: Budgets): Slots {
  const used: Record<Pace, number> = { quick: 0, unproven: 0, slow: 0 };
  const held = new Map<string, number>();

  const free = (pace: Pace): number => {
    const notQuick = used.unproven + used.slow;
    const left = budgets.total - notQuick - used.quick;
    if (pace === "quick") return left;
    const leftUnproven = Math.min(left, budgets.unproven - notQuick);
    return pace === "unproven" ? leftUnproven : Math.min(leftUnproven, budgets.slow - used.slow);
  };
  const change = (accountId: string, pace: Pace, by: 1 | -1) => {
    used[pace] += by;
    const now = (held.get(accountId) ?? 0) + by;
    if (now === 0) held.delete(accountId);
    else held.set(accountId, now);
  };

  return {
    free(accountId, pace) {
      const left = free(pace);
      // The most n with held + n <= SHARE * (left - n): each place that is taken is one fewer left.
      const fair = Math.floor((SHARE * left - (held.get(accountId) ?? 0)) / (SHARE + 1));
      return Math.max(0, Math.min(left, fair));
    },
    take: (accountId, pace) => change(accountId, pace, 1),
    giveBack: (accountId, pace) => change(accountId, pace, -1),
    taken: () => used.quick + used.unproven + used.slow,
  };
}
