import type { Suppression } from "../../core/records/accounts.ts";

/** Addresses that an account's email is not sent to. Bounces and complaints add theirs with the receipts that report them. */
export interface SuppressionStore {
  /** Which of the addresses (lower case) are suppressed at `now`. */
  find(
    accountId: string,
    emails: readonly string[],
    now: number,
  ): Promise<readonly Pick<Suppression, "email" | "reason">[]>;
  /**
   * Adds all, or rejects and adds none if an account does not exist. Where an address is on the list already the entry
   * that lasts longer stays, or the older of two that end together; of several given for one address, the one that lasts
   * longest is added. An entry of somebody who was erased stays without the address. An address may be given as its erased
   * form. Returns how many addresses were added or made to last longer.
   */
  add(suppressions: readonly Suppression[]): Promise<number>;
}
