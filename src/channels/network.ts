import type { Dns } from "../core/domains/dns.ts";
import type { KeptMailPolicy } from "../core/email/mail-policy.ts";

/** How channels reach hosts that strangers name: through DNS, and under rules against private addresses. */
export interface Network {
  readonly dns: Dns;
  /** `allowed`: addresses and ranges that may be connected to although they are private or reserved. */
  readonly addressRules: (allowed: readonly string[]) => AddressRules;
}

/** Keeps the policies that domains publish. Rejects where the store cannot be reached. */
export interface MailPolicies {
  find(domain: string): Promise<KeptMailPolicy | undefined>;
  keep(domain: string, policy: KeptMailPolicy, now: number): Promise<void>;
}

export interface AddressRules {
  /** The range that forbids the address, in words for the operator; `undefined` if it may be connected to. */
  blockedBy(address: string): string | undefined;
}
