import type { Erasure, NewErasure } from "../core/erasure.ts";

/**
 * Erasures by recipient, and the record that they were done. The work is `UpkeepStore.erase`'s: messages made until
 * the erasure was asked for, with all that hangs on them, saved answers, receipts nobody has claimed, sandbox and
 * inbound messages, counts. Suppressions and opt-outs stay: they are what keeps the recipient from being written to.
 */
export interface Erasures {
  create(erasure: NewErasure): Promise<Erasure>;
  find(id: string): Promise<Erasure | undefined>;
  /** In order of id. */
  list(page: { readonly after?: string; readonly limit: number }): Promise<readonly Erasure[]>;
}
