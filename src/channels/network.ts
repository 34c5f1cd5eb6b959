import type { Dns } from "../core/domains/dns.ts";

/** How channels reach hosts that strangers name: by DNS, and with rules against private addresses. */
export interface Network {
  readonly dns: Dns;
  /** `allowed`: addresses and ranges that may be connected to although they are private or reserved. */
  readonly addressRules: (allowed: readonly string[]) => AddressRules;
}

export interface AddressRules {
  /** The range that forbids the address, in words for the operator; `undefined` if it may be connected to. */
  blockedBy(address: string): string | undefined;
}
