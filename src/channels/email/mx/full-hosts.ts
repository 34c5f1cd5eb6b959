import type { Clock } from "../../../core/clock.ts";

/** How many connections at a time the hosts take that have refused one more lately, by their addresses. */
export interface FullHosts {
  /** `connections`: how many it has beside the one that it refused, at least one. */
  readonly refused: (address: string, connections: number) => void;
  /** At most so many; `Infinity` if the host has refused none lately. */
  readonly mostAt: (address: string) => number;
}

/** For how long a host that takes no more connections is asked for none. Whether it then takes more, only another one tells. */
export const FULL_MS = 15_000;

/** How many hosts are remembered before those are dropped whose time is over. */
const MANY = 5_000;

export function createFullHosts(clock: Pick<Clock, "monotonicMs">): FullHosts {
  const full = new Map<string, { readonly connections: number; readonly untilMs: number }>();
  const mostAt: FullHosts["mostAt"] = (address) => {
    const known = full.get(address);
    if (known && known.untilMs > clock.monotonicMs()) return known.connections;
    full.delete(address);
    return Number.POSITIVE_INFINITY;
  };
  return {
    refused(address, connections) {
      if (full.size >= MANY) for (const each of full.keys()) mostAt(each);
      full.set(address, { connections, untilMs: clock.monotonicMs() + FULL_MS });
    },
    mostAt,
  };
}
