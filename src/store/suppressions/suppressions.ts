import type { Suppression } from "../../core/records/accounts.ts";

/** Whom an account's email does not go to. What bounces and complaints teach is written with their receipts. */
export interface SuppressionStore {
  /** Those of the addresses (lower case) that are suppressed at `now`. */
  find(
    accountId: string,
    emails: readonly string[],
    now: number,
  ): Promise<readonly Pick<Suppression, "email" | "reason">[]>;
  /**
   * Adds all, or none where an account does not exist (it rejects then). Where an address is on the list already the
   * entry that lasts longer stays, the older of two alike; one whose recipient was erased stays without the address.
   * An address may be given as its erased form. How many were added or made to last longer.
   */
  add(suppressions: readonly Suppression[]): Promise<number>;
}
