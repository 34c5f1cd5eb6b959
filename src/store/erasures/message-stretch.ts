/** What both engines share for a stretch through one account's messages: which ones it looks at, and where the next goes on. */
import type { ChannelName } from "../../core/messages/message.ts";
import { firstUuidAt } from "../../core/uuid.ts";
import { addressJson } from "../messages/message-page.ts";
import { type ErasureTask, LOOKS_PER_ACCOUNT } from "./erasure-work.ts";

/** The channel to search: SMS for a number, email for an address. */
export function channelOf({ recipient }: ErasureTask): ChannelName {
  return recipient.startsWith("+") ? "sms" : "email";
}

/** The next messages of the account, whatever their recipients: `looks` at most. */
export interface Ahead {
  readonly count: number;
  /** The highest id among them. */
  readonly last: string | null;
}

export interface MessageStretch {
  /** The last id that it looks at. Messages that were accepted after the erasure was asked for are left alone. */
  readonly upTo: string;
  /** What is searched for: the number that a message went to, or a text in an email's parts. */
  readonly needle: string;
  /** How many looks it costs, not counting what is erased. */
  readonly looks: number;
  /** The id after which the next stretch goes on; `undefined`: the account has no more. `found`: in order, at most `most`. */
  after(found: readonly string[], most: number): string | undefined;
}

export function messageStretch(task: ErasureTask, ahead: Ahead | undefined, looks: number): MessageStretch {
  const { recipient, createdAt } = task;
  const { count, last } = ahead ?? { count: 0, last: null };
  const end = last !== null && count === looks ? last : undefined;
  const latest = firstUuidAt(createdAt + 1);
  const upTo = end !== undefined && end < latest ? end : latest;
  return {
    upTo,
    needle: channelOf(task) === "sms" ? recipient : addressJson(recipient),
    looks: LOOKS_PER_ACCOUNT + count,
    after(found, most) {
      const goOn = found.length === most ? found.at(-1) : end;
      return goOn !== undefined && goOn <= upTo ? goOn : undefined;
    },
  };
}
