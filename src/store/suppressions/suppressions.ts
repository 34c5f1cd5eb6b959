import type { Suppression } from "../../core/records/accounts.ts";

/**
 * Who must not be sent to: suppressed email addresses, and phone numbers that have opted out. A bounce or complaint adds its
 * suppression in the transaction of the receipt, and a stop keyword its opt-out in that of the message.
 */
export interface SuppressionStore {
  /** Which of the addresses (in lower case) are suppressed at `now`, and why; in any order. */
  find(
    accountId: string,
    emails: readonly string[],
    now: number,
  ): Promise<readonly Pick<Suppression, "email" | "reason">[]>;
  /**
   * Adds all of them, or none if an account does not exist: then it resolves with `undefined`. Otherwise it resolves with how
   * many addresses were added or are now suppressed for longer. An address has one entry: the one that lasts longest or, of
   * two that end together, the older one. The entry of somebody who was erased is kept without the address; an address may
   * also be given in its erased form.
   */
  add(suppressions: readonly Suppression[]): Promise<number | undefined>;
  /** Which numbers of `to` (E.164) have opted out of the account's messages from this sender; in the order of `to`. */
  findOptedOut(query: OptOutQuery): Promise<readonly string[]>;
}

export interface OptOutQuery {
  readonly accountId: string;
  /** As `senderKey` writes it; absent: the message names none, so it may go out from any, and every opt-out counts. */
  readonly sender?: string;
  readonly to: readonly string[];
}
