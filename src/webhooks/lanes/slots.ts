/**
 * Counts the deliveries under way and limits them, so that slow hosts leave room for quick and new ones, and no account takes
 * all the room. Knows accounts and service classes, not hosts.
 */

/**
 * How a lane has been lately. `quick`: answers within a second; `new`: not tried yet; `slow`: takes longer; `failing`: takes
 * longer, and fails.
 */
export type ServiceClass = "quick" | "new" | "slow" | "failing";

/** How many deliveries may be under way of a class and of those before it, in the order of `CLASSES`. */
export type Budgets = Readonly<Record<ServiceClass, number>>;

export interface Slots {
  /** How many more deliveries of that class the account may begin. */
  free(accountId: string, serviceClass: ServiceClass): number;
  take(accountId: string, serviceClass: ServiceClass): void;
  giveBack(accountId: string, serviceClass: ServiceClass): void;
  taken(): number;
}

/** In this order: each class has room that the classes before it cannot take. */
const CLASSES: readonly ServiceClass[] = ["failing", "slow", "new", "quick"];

/**
 * One account may hold at most this many times what is still free of a class: alone it gets four fifths, and the next account
 * finds room. (Choudhury and Hahne's dynamic thresholds for shared buffers.) Each class counts by itself, since an account's
 * slow hosts must not delay its other ones.
 */
const SHARE = 4;

export function createSlots(budgets: Budgets): Slots {
  const used: Record<ServiceClass, number> = { quick: 0, new: 0, slow: 0, failing: 0 };
  const byAccount: Readonly<Record<ServiceClass, Map<string, number>>> = {
    quick: new Map(),
    new: new Map(),
    slow: new Map(),
    failing: new Map(),
  };

  const leftOf = (serviceClass: ServiceClass): number => {
    let left = Number.POSITIVE_INFINITY;
    let taken = 0;
    for (const [index, each] of CLASSES.entries()) {
      taken += used[each];
      if (index >= CLASSES.indexOf(serviceClass)) left = Math.min(left, budgets[each] - taken);
    }
    return left;
  };
  const change = (accountId: string, serviceClass: ServiceClass, by: 1 | -1) => {
    used[serviceClass] += by;
    const now = (byAccount[serviceClass].get(accountId) ?? 0) + by;
    if (now === 0) byAccount[serviceClass].delete(accountId);
    else byAccount[serviceClass].set(accountId, now);
  };

  return {
    free(accountId, serviceClass) {
      const left = leftOf(serviceClass);
      // The greatest n with used + n <= SHARE * (left - n), as each place that is taken leaves one fewer.
      const fair = Math.floor((SHARE * left - (byAccount[serviceClass].get(accountId) ?? 0)) / (SHARE + 1));
      return Math.max(0, Math.min(left, fair));
    },
    take: (accountId, serviceClass) => change(accountId, serviceClass, 1),
    giveBack: (accountId, serviceClass) => change(accountId, serviceClass, -1),
    taken: () => used.quick + used.new + used.slow + used.failing,
  };
}
