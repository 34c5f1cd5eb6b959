import type {
  AcceptRequest,
  AcceptResult,
  Idempotency,
  SavedAnswer,
} from "../../core/messages/accept-request.ts";
import type { LimitedRequest, LimitRefusal } from "../../core/messages/sending-limits.ts";

/** Accepting requests: each is stored whole, with its answer, or not at all. */
export interface Intake {
  /**
   * Stores a request: content, messages, jobs, idempotency key and saved answer, all or nothing. If its key is taken already
   * (and has not expired), nothing is stored and the first answer is returned; an `accept` under way with the same key is
   * waited for. So a request with a key may be repeated.
   */
  accept(request: AcceptRequest): Promise<AcceptResult>;
  /** The sending limit that such a request would exceed now, if any. Counts nothing. */
  overLimit(query: {
    readonly accountId: string;
    readonly recipients: readonly string[];
    readonly limited: LimitedRequest;
  }): Promise<LimitRefusal | undefined>;
  /** The answer saved under a key, unless that has expired. Waits for an `accept` with the same key in this process. */
  savedAnswer(idempotency: Pick<Idempotency, "scope" | "key" | "now">): Promise<SavedAnswer | undefined>;
}
