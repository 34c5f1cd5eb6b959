import type { Erasure, NewErasure } from "../../core/messages/erasure.ts";

/**
 * Erasures by recipient, and the record that they were done. The work is `UpkeepStore.erase`'s: messages made until
 * the erasure was asked for, with all that hangs on them, saved answers, receipts nobody has claimed, sandbox and
 * inbound messages, counts. Suppressions and opt-outs go on to hold, but name nobody any more: in the place of the
 * recipient stands its `ErasedForm`, and operators' words about it are scrubbed. All that asks about a recipient finds
 * them all the same: `SuppressionStore`, `InboundStore` (a START lifts them, a STOP adds nothing to them), claims, and
 * `Records` when searched by the recipient or given the same one anew.
 */
export interface Erasures {
  create(erasure: NewErasure): Promise<Erasure>;
  find(id: string): Promise<Erasure | undefined>;
  /** In order of id. */
  list(page: { readonly after?: string; readonly limit: number }): Promise<readonly Erasure[]>;
}
