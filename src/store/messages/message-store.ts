import type { Idempotency } from "../../core/messages/accept-request.ts";
import type {
  ChannelName,
  MessageStatus,
  StoredMessage,
  TimelineEntry,
} from "../../core/messages/message.ts";

/** Messages that were accepted: what became of them, and canceling. */
export interface MessageStore {
  /** The message without its body. */
  find(query: FindMessage): Promise<StoredMessage | undefined>;
  /** The history of a message, oldest first; `undefined` if there is no such message. */
  timeline(query: FindMessage): Promise<readonly TimelineEntry[] | undefined>;
  /** Messages of an account, newest first. A call examines a bounded number, so a page may be short, or empty, and not the last. */
  list(query: MessageQuery): Promise<MessagePage>;
  /**
   * Ends a message of which nothing has been sent, and deletes its jobs, so that no claim finds one any more.
   * `core/messages/cancel.ts` says when it is too late. Canceling a canceled message changes nothing.
   *
   * If the message is canceled now, or was before, the idempotency key is saved in the same transaction, without an answer,
   * since the answer is the message, which does not change any more. The key's scope has to name the message. `replayed`: the
   * key was saved by an earlier call.
   */
  cancel(query: {
    readonly accountId: string;
    readonly channel: ChannelName;
    readonly id: string;
    readonly now: number;
    readonly idempotency?: Idempotency;
  }): Promise<"canceled" | "replayed" | "too_late" | "not_found">;
}

export interface FindMessage {
  readonly id: string;
  /** Only if it belongs to this account; absent: to any. */
  readonly accountId?: string;
  /** Only if it is of this channel; absent: of either. */
  readonly channel?: ChannelName;
}

export interface MessageQuery {
  readonly accountId: string;
  readonly channel: ChannelName;
  readonly limit: number;
  /** Only messages with lower ids: `next` of the previous page. */
  readonly before?: string;
  /** Unix milliseconds: accepted at or after `createdFrom`, and before `createdBefore`. */
  readonly createdFrom: number;
  readonly createdBefore?: number;
  readonly status?: MessageStatus;
  readonly tag?: string;
  /** A number, or an address among an email's recipients, in any case; an international domain in any spelling. */
  readonly recipient?: string;
}

export interface MessagePage {
  readonly messages: readonly StoredMessage[];
  /** Absent on the last page. */
  readonly next?: string;
}
