import { addressBlock } from "../../../core/address-block.ts";

/** Counts connections by who made them: an IPv4 address, or the /64 of an IPv6 address. */
export interface Seats {
  /** What to call, once, when the connection has ended; `undefined` if as many as allowed are open. */
  take(address: string): (() => void) | undefined;
}

export function createSeats(maxOfBlock: number): Seats {
  const taken = new Map<string, number>();
  return {
    take(address) {
      const block = addressBlock(address);
      const before = taken.get(block) ?? 0;
      if (before >= maxOfBlock) return undefined;
      taken.set(block, before + 1);
      return () => {
        const left = (taken.get(block) ?? 1) - 1;
        if (left > 0) taken.set(block, left);
        else taken.delete(block);
      };
    },
  };
}
