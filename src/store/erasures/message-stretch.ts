/** What both engines share of a stretch through the messages of one account: which it looks at, and where the next goes on. */
import type { ChannelName } from "../../core/messages/message.ts";
import { firstUuidAt } from "../../core/uuid.ts";
import { addressJson } from "../messages/message-page.ts";
import { type ErasureTask, LOOKS_PER_ACCOUNT } from "./erasure-work.ts";

/** A number is of SMS, an address of emails. */
export function channelOf({ recipient }: ErasureTask): ChannelName {
  return recipient.startsWith("+") ? "sms" : "email";
}

/** The next messages of the account, whomever they went to: `looks` + 1 at most. */
export interface Ahead {
  readonly count: number;
  /** The highest of their ids. */
  readonly last: string | null;
}

export interface MessageStretch {
  /** The last id that it looks at. What was accepted after the erasure was asked for stays. */
  readonly upTo: string;
  /** The number that a message went to, or what its parts contain. */
  readonly needle: string;
  /** What it costs, without what is erased. */
  readonly looks: number;
  /** The id after which the next stretch goes on; `undefined`: the account has no more. `found`: in order, `most` at most. */
  after(found: readonly string[], most: number): string | undefined;
}

export function messageStretch(task: ErasureTask, ahead: Ahead | undefined, looks: number): MessageStretch {
  const { recipient, createdAt } = task;
  const { count, last } = ahead ?? { count: 0, last: null };
  const end = last !== null && count > looks ? last : undefined;
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
