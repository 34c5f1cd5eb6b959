import type { Clock } from "../../core/clock.ts";
import { remember } from "../../core/work/remember.ts";

/**
 * Addresses that could not be connected to lately. Each attempt at a silent one takes seconds: a name whose first address is silent would
 * get a delivery or two a second, although another address takes them at once.
 */
export interface FailedAddresses {
  /** Those that have not failed lately first, otherwise in the same order. For one caller a minute, an address that failed counts as well. */
  inOrder(addresses: readonly string[], port: number): readonly string[];
  /** To be called when the address could not be connected to. */
  add(address: string, port: number): void;
  /** To be called when it could. */
  remove(address: string, port: number): void;
}

const RETRY_MS = 60_000;

/** Beyond that, the one that failed first is forgotten. */
const MAX_ADDRESSES = 10_000;

export function createFailedAddresses(clock: Pick<Clock, "monotonicMs">): FailedAddresses {
  /** When each is to be tried again, by port and address. */
  const failed = new Map<string, number>();

  const rest = (key: string) => remember(failed, [key, clock.monotonicMs() + RETRY_MS], MAX_ADDRESSES);
  const isResting = (key: string): boolean => {
    const until = failed.get(key);
    if (until === undefined) return false;
    if (clock.monotonicMs() < until) return true;
    // All others that begin before its result is known leave it out.
    rest(key);
    return false;
  };
  return {
    inOrder(addresses, port) {
      if (failed.size === 0) return addresses;
      const { well = [], resting = [] } = Object.groupBy(addresses, (address) =>
        isResting(keyOf(address, port)) ? "resting" : "well",
      );
      return [...well, ...resting];
    },
    add: (address, port) => rest(keyOf(address, port)),
    remove: (address, port) => void failed.delete(keyOf(address, port)),
  };
}

function keyOf(address: string, port: number): string {
  return `${port} ${address}`;
}
