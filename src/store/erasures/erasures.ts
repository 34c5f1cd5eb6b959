import type { ListOrder } from "../../core/lists/list-order.ts";
import type { Erasure, NewErasure } from "../../core/messages/erasure.ts";

/**
 * Erasures of a recipient, and the record that they were done. `advance` erases what existed when the erasure was asked for:
 * messages with everything that belongs to them, saved answers, parked receipts, sandbox and inbound messages, usage counts,
 * soft bounces, and the external ids of contacts that are the recipient.
 *
 * Suppressions and opt-outs stay in force, but name nobody: the recipient is replaced by its `ErasedForm`, and scrubbed from
 * operators' notes. They still apply to the recipient in `SuppressionStore`, `InboundStore` (START lifts an opt-out, STOP adds
 * no second one) and claims, and `Records` finds them by the recipient.
 */
export interface Erasures {
  /** Stores the request. The work begins with the next `advance`. */
  create(erasure: NewErasure): Promise<Erasure>;
  find(id: string): Promise<Erasure | undefined>;
  /**
   * Continues the oldest unfinished erasure, over about `limit` rows. 1 if it did; 0 if there is none, or it has to wait. It passes over a
   * row that cannot be erased, and the call rejects with `RowPutOff`: for the first such row, and then once a minute. At its end such an
   * erasure is not completed, has `passedOver`, and an hour later begins again where it failed first.
   */
  advance(now: number, limit: number): Promise<number>;
  /** In order of id. */
  list(page: ErasurePage): Promise<readonly Erasure[]>;
}

export interface ErasurePage {
  /** Absent: the oldest first. */
  readonly order?: ListOrder;
  /** The `id` of the last erasure of the previous page, in the same order. */
  readonly after?: string;
  readonly limit: number;
}
