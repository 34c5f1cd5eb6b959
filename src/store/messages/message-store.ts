import type { Idempotency } from "../../core/messages/accept-request.ts";
import type {
  ChannelName,
  MessageStatus,
  StoredMessage,
  TimelineEntry,
} from "../../core/messages/message.ts";

/** Messages that were accepted: what has become of them, and canceling one. */
export interface MessageStore {
  /** The message, if this account has it on this channel; without its body. */
  find(query: {
    readonly accountId: string;
    readonly channel: ChannelName;
    readonly id: string;
  }): Promise<StoredMessage | undefined>;
  /** Whose message it is, and of which channel. */
  ownerOf(id: string): Promise<MessageOwner | undefined>;
  /** The message's history, oldest first; `undefined` if there is no such message. Without `accountId` or `channel`: of any. */
  timeline(query: {
    readonly id: string;
    readonly accountId?: string;
    readonly channel?: ChannelName;
  }): Promise<readonly TimelineEntry[] | undefined>;
  /**
   * Messages of an account, newest first. A call examines a bounded number of them, so a page may be short, or empty, and
   * yet not be the last.
   */
  list(query: MessageQuery): Promise<MessagePage>;
  /**
   * Ends a message of which nothing has been sent, and deletes its jobs, so that no later claim finds one.
   * `core/messages/cancel.ts` says when it is too late. Canceling a canceled message changes nothing.
   *
   * Once it is canceled, the key is saved in the same transaction, but no answer: that is the message, which stays as it
   * is. `replayed`: the key was saved before. Its scope has to name the message.
   */
  cancel(query: {
    readonly accountId: string;
    readonly channel: ChannelName;
    readonly id: string;
    readonly now: number;
    readonly idempotency?: Idempotency;
  }): Promise<"canceled" | "replayed" | "too_late" | "not_found">;
}

export interface MessageOwner {
  readonly accountId: string;
  readonly channel: ChannelName;
}

export interface MessageQuery {
  readonly accountId: string;
  readonly channel: ChannelName;
  readonly limit: number;
  /** Only ids below this one: `next` of the page before. */
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
