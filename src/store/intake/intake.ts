import type {
  AcceptRequest,
  AcceptResult,
  Idempotency,
  SavedAnswer,
} from "../../core/messages/accept-request.ts";
import type { LimitedRequest, LimitRefusal } from "../../core/messages/sending-limits.ts";

/** Accepts requests: each is stored as a whole, together with its answer, or not at all. */
export interface Intake {
  /**
   * Stores a request: content, messages, jobs, idempotency key and saved answer, all or nothing. If its key is taken (and has
   * not expired), nothing is stored, and the first answer is returned; if an `accept` with the same key is under way, this
   * waits for it. So a request with a key may be repeated safely.
   */
  accept(request: AcceptRequest): Promise<AcceptResult>;
  /** The sending limit that a request would exceed now, if any; an account that does not exist has none. Does not count the request. */
  overLimit(query: {
    readonly accountId: string;
    readonly recipients: readonly string[];
    readonly limited: LimitedRequest;
  }): Promise<LimitRefusal | undefined>;
  /**
   * The answer saved under a key, if the key has not expired. Waits for an `accept` with the same key that is under way;
   * `in_progress`: that takes too long, in another process (never on SQLite).
   */
  savedAnswer(
    idempotency: Pick<Idempotency, "scope" | "key" | "now">,
  ): Promise<SavedAnswer | "in_progress" | undefined>;
}
