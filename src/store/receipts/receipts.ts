import type { ListOrder } from "../../core/lists/list-order.ts";
import type { PartRef, Receipt, ReceiptResult } from "../../core/messages/outcome.ts";
import type { LateAnswer, LateRefusal } from "../../core/receipts/late-answer.ts";

/** What providers say later of messages they were handed: receipts, answers that come late, and what is overdue. */
export interface ReceiptStore {
  /**
   * Stores receipts; acknowledge them only once this resolves. One that matches a message moves it, with everything that
   * follows from that: timeline, events, webhooks, suppressions. The others are parked, and match when `Queue.settle` or
   * `recordLateAnswer` records their id. A receipt that comes again moves nothing, and is noted on the timeline.
   */
  record(receipts: readonly Receipt[]): Promise<readonly ReceiptResult[]>;
  /**
   * Records a provider's answer that came after its attempt was settled. If the part is still open it becomes `sent`,
   * and the message's retry is cancelled unless another part is open. A part that was settled or sent again since keeps
   * its state. Either way the ids are recorded, so that receipts match.
   */
  recordLateAnswer(answer: LateAnswer, at: number): Promise<void>;
  /**
   * Records a provider's refusal that came after its attempt was settled, if no other attempt may have sent the part: then
   * the message moves on as after a refusal in time. It has failed, or is tried again at the next time of its retry policy
   * where it was held. Otherwise the refusal is only noted on the timeline. Resolves with `false`, and does nothing, while
   * an attempt is under way that decides this: to be called again later.
   */
  recordLateRefusal(refusal: LateRefusal, at: number): Promise<boolean>;
  /** Receipts that match no message (yet), in the order they came, or in the opposite one. */
  parked(query: ParkedQuery): Promise<readonly ParkedReceipt[]>;
  /** How many are parked, counted up to 100,000. */
  countParked(): Promise<number>;
  /**
   * Deletes the oldest parked receipts of each connector that has more than `most`, at most `limit` of each; returns how
   * many of which. A receipt that is parked under two ids takes the room of two. A transaction for each connector. Each of
   * several processes that do this at once may delete that many.
   */
  dropParked(bounds: { readonly most: number; readonly limit: number }): Promise<readonly DroppedReceipts[]>;
  /**
   * Flags up to `limit` SMS parts that the provider took before `sentBefore` and that have had no receipt: one timeline
   * entry per message. From `now` on the provider may be asked about them. Returns how many parts were examined.
   */
  flagOverdue(bounds: { now: number; sentBefore: number; limit: number }): Promise<number>;
  /**
   * Overdue parts of one connector that are due to be asked about, at most `limit`. Each is next due after the wait in
   * `waitsMs` for the number of times it has been asked about (the last wait repeats), so that nobody else asks meanwhile.
   */
  takeQuestions(request: QuestionRequest): Promise<readonly Question[]>;
  /** How many parts are overdue at each connector that has any, counted up to 100,000. */
  countOverdue(): Promise<readonly { readonly connectorId: string; readonly parts: number }[]>;
}

export interface ParkedQuery {
  readonly connectorId?: string;
  /** Absent: the oldest first. */
  readonly order?: ListOrder;
  /** `id` of the last one of the page before, in the same order. */
  readonly after?: string;
  readonly limit: number;
}

export interface DroppedReceipts {
  readonly connectorId: string;
  readonly receipts: number;
}

export interface ParkedReceipt {
  /** Rises with the order in which they came. */
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
  /** The sender the message went out with, where it named one. */
  readonly from?: string;
}
