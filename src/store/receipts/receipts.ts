import type { ListOrder } from "../../core/lists/list-order.ts";
import type { PartRef, Receipt, ReceiptResult } from "../../core/messages/outcome.ts";
import type { LateAnswer, LateRefusal } from "../../core/receipts/late-answer.ts";

/** What providers say about messages after the attempt: receipts, late answers, and receipts that are overdue. */
export interface ReceiptStore {
  /**
   * Stores receipts; acknowledge them only once this resolves. A receipt that matches a message moves it, with everything that
   * follows: timeline, events, webhooks, suppressions. Any other is parked until `Queue.settle` or `recordLateAnswer` records
   * its id. A receipt that comes a second time is only noted on the timeline.
   */
  record(receipts: readonly Receipt[]): Promise<readonly ReceiptResult[]>;
  /**
   * Records that a provider took a part, as its answer says, which came after the attempt was settled. If the part is still
   * open, it becomes `sent`, and the message's retry is called off unless another part is open. A part that has been settled
   * or sent again since keeps its state. In either case the ids are recorded, so that receipts match.
   */
  recordLateAnswer(answer: LateAnswer, at: number): Promise<void>;
  /**
   * Records that a provider refused or deferred a part, as its answer says, which came after the attempt was settled; or that a lost
   * attempt had handed nothing over, of any part. If no other attempt may have sent the part, the message moves as it would have with
   * an answer in time: it fails, or, if it was held, is tried again by its retry policy. Otherwise the answer is only noted on the
   * timeline. Resolves with `false`, and does nothing, while it depends on an attempt under way which of these it is; call it again
   * later.
   */
  recordLateRefusal(refusal: LateRefusal, at: number): Promise<boolean>;
  /** Receipts that match no message (yet), in the order in which they came, or the reverse. */
  parked(query: ParkedQuery): Promise<readonly ParkedReceipt[]>;
  /** How many receipts are parked, counted up to 100,000. */
  countParked(): Promise<number>;
  /**
   * Deletes the oldest parked receipts of each connector that has more than `most`, at most `limit` of each, in a transaction
   * for each connector. Returns how many it deleted, by connector. Of `most` and `limit` a receipt that is parked under two ids takes two.
   * Several processes that do this at once may each delete `limit`.
   */
  dropParked(bounds: { readonly most: number; readonly limit: number }): Promise<readonly DroppedReceipts[]>;
  /**
   * Flags as overdue up to `limit` SMS parts that the provider took before `sentBefore` and that have had no receipt, and the
   * other such parts of their messages, with one timeline entry for each message, about the part that was taken first. From
   * `now` on, the provider may be asked about them. Returns how many parts it examined, without those others.
   */
  flagOverdue(bounds: { now: number; sentBefore: number; limit: number }): Promise<number>;
  /**
   * Takes up to `limit` overdue parts of one connector that it is time to ask the provider about. Nobody else gets them until
   * they are due again: after the first wait in `waitsMs`, the next time after the second, and so on; the last wait repeats.
   */
  takeQuestions(request: QuestionRequest): Promise<readonly Question[]>;
  /** How many parts are overdue at each connector that has overdue ones, counted up to 100,000. */
  countOverdue(): Promise<readonly { readonly connectorId: string; readonly parts: number }[]>;
}

export interface ParkedQuery {
  readonly connectorId?: string;
  /** Absent: the oldest first. */
  readonly order?: ListOrder;
  /** The `id` of the last receipt of the previous page, in the same order. */
  readonly after?: string;
  readonly limit: number;
}

export interface DroppedReceipts {
  readonly connectorId: string;
  readonly receipts: number;
}

export interface ParkedReceipt {
  /** Rises in the order in which receipts came. */
  readonly id: string;
  readonly receipt: Receipt;
}

export interface QuestionRequest {
  readonly connectorId: string;
  readonly now: number;
  readonly limit: number;
  /** Milliseconds; not empty. */
  readonly waitsMs: readonly number[];
}

export interface Question extends PartRef {
  /** As the provider wrote it. */
  readonly providerMessageId: string;
  /** The sender that the message was sent with, if it named one. */
  readonly from?: string;
}
