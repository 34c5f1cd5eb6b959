import { addressBlock } from "../../../core/network/address-block.ts";

/** Limits the connections open at a time from one IPv4 address, or from one /64 of IPv6 addresses. */
export interface AddressLimit {
  /** Counts a connection. Returns the function that ends it, to be called once; `undefined` if as many as allowed are open. */
  admit(address: string): (() => void) | undefined;
}

export function createAddressLimit(maxOfBlock: number): AddressLimit {
  const open = new Map<string, number>();
  return {
    admit(address) {
      const block = addressBlock(address);
      const before = open.get(block) ?? 0;
      if (before >= maxOfBlock) return undefined;
      open.set(block, before + 1);
      return () => {
        const left = (open.get(block) ?? 1) - 1;
        if (left > 0) open.set(block, left);
        else open.delete(block);
      };
    },
  };
}
