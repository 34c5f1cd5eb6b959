import type { ListOrder } from "../../core/lists/list-order.ts";
import type { Erasure, NewErasure } from "../../core/messages/erasure.ts";

/**
 * Erasures by recipient, and the record that they were done. `Erasures.advance` does the work, on what there was when the
 * erasure was asked for: messages with everything that belongs to them, saved answers, parked receipts, sandbox and
 * inbound messages, usage counts. Suppressions and opt-outs stay in force but name nobody any more: the recipient is
 * replaced by its `ErasedForm`, and operators' words about it are scrubbed. Whoever asks about the recipient still finds
 * them: `SuppressionStore`, `InboundStore` (a START lifts them, a STOP adds nothing to them), claims, and `Records` when
 * searched by the recipient or given the same one again.
 */
export interface Erasures {
  /** Stores the request; the work begins with the next `Erasures.advance`. */
  create(erasure: NewErasure): Promise<Erasure>;
  find(id: string): Promise<Erasure | undefined>;
  /** Continues the oldest unfinished one, over about `limit` rows. 1 if it did, 0 if there is none or it has to wait. */
  advance(now: number, limit: number): Promise<number>;
  /** In order of id. */
  list(page: ErasurePage): Promise<readonly Erasure[]>;
}

export interface ErasurePage {
  /** Absent: the oldest first. */
  readonly order?: ListOrder;
  /** `id` of the last one of the page before, in the same order. */
  readonly after?: string;
  readonly limit: number;
}
