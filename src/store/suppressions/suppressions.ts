import type { Suppression } from "../../core/records/accounts.ts";

/**
 * Who must not be sent to: suppressions of email addresses, and opt-outs of phone numbers. Bounces and complaints add their
 * suppressions with the receipts that report them, and stop keywords their opt-outs with the messages that hold them.
 */
export interface SuppressionStore {
  /** Those of the addresses (lower case) that are suppressed at `now`, with the reason; in any order. */
  find(
    accountId: string,
    emails: readonly string[],
    now: number,
  ): Promise<readonly Pick<Suppression, "email" | "reason">[]>;
  /**
   * Adds all, or none if an account does not exist: then it resolves with `undefined`. Where an address is on the list already the entry
   * that lasts longer stays, or the older of two that end together; of several given for one address, the one that lasts
   * longest is added. An entry of somebody who was erased stays without the address. An address may be given as its erased
   * form. Returns how many addresses were added or made to last longer.
   */
  add(suppressions: readonly Suppression[]): Promise<number | undefined>;
  /** The numbers of `to` (E.164) that have opted out of the account's messages, from this sender or from all; in their order. */
  findOptedOut(query: OptOutQuery): Promise<readonly string[]>;
}

export interface OptOutQuery {
  readonly accountId: string;
  /** As `senderKey` writes it; absent: only opt-outs from all of the account's messages count. */
  readonly sender?: string;
  readonly to: readonly string[];
}
