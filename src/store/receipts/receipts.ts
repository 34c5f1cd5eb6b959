/** The receipts' part of the store (interface only). */
import type { PartRef, Receipt } from "../../core/messages/outcome.ts";
import type { LateAnswer } from "../../core/receipts/late-answer.ts";

export interface ReceiptStore {
  /**
   * A part that is still open becomes `sent` with its ids, and if nothing of the message is open any more its retry is
   * cancelled. A part that has been settled since, or sent again, keeps its state. The ids are recorded in any case, so
   * that receipts match.
   */
  recordLateAnswer(answer: LateAnswer, at: number): Promise<void>;
  /** Receipts that match no message (yet), in the order they came. */
  parked(query: ParkedQuery): Promise<readonly ParkedReceipt[]>;
  /**
   * Deletes parked receipts, the oldest of each connector that has more than `most`, at most `limit` of each: says of
   * which, and how many. Processes at it side by side may each delete as many.
   */
  dropParked(bounds: { readonly most: number; readonly limit: number }): Promise<readonly DroppedReceipts[]>;
  /**
   * Flags up to `limit` SMS parts that were taken before `sentBefore` and have had no receipt: an entry on their
   * timeline, once a message. They may be asked about from `now` on. Returns how many parts were looked at.
   */
  flagOverdue(bounds: { now: number; sentBefore: number; limit: number }): Promise<number>;
  /**
   * Overdue parts of one connector that are due to be asked about, at most `limit`. Each is put off by the wait for
   * how often it has been asked about (the last one repeats), so that nobody else asks meanwhile.
   */
  takeQuestions(request: QuestionRequest): Promise<readonly Question[]>;
  /** How many parts are overdue at each connector that has any, counted up to 100,000. */
  overdue(): Promise<readonly { readonly connectorId: string; readonly parts: number }[]>;
}

export interface ParkedQuery {
  readonly connectorId?: string;
  readonly after?: string;
  readonly limit: number;
}

export interface DroppedReceipts {
  readonly connectorId: string;
  readonly receipts: number;
}

export interface ParkedReceipt {
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
