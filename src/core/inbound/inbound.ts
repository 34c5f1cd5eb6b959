/** Inbound SMS: messages from handsets. Times are Unix milliseconds. */
import type { SmsEncoding } from "../sms/sms-segments.ts";
import type { KeywordMeaning } from "../suppressions/opt-out.ts";

/** A message from a handset as a provider delivered it: whole, or one part of a longer message. */
export interface InboundPiece {
  /** UUIDv7, made when the piece came. A message gets the id of the last of its pieces that comes. */
  readonly id: string;
  readonly connectorId: string;
  /** As `toInboundAddress` writes it. */
  readonly from: string;
  /** The number or short code that it was sent to, written in the same way. */
  readonly to: string;
  /** The text; that of a part may begin or end with half a surrogate pair. */
  readonly text: string;
  readonly encoding: SmsEncoding;
  /** How many segments it came in, if the provider joined them; otherwise 1. */
  readonly segments: number;
  readonly receivedAt: number;
  /** If a piece with the same key and connector was received at `sameSince` or later, this is that piece, delivered again. */
  readonly key: string;
  readonly sameSince: number;
  /** The provider gives no ids. So the key is of what the message says, and another message that says the same may have it too. */
  readonly hasNoId?: true;
  /** There is no id, but with another key this is another piece: the provider knows that the one before was taken. */
  readonly isKnownNew?: true;
  readonly part?: InboundPart;
  /** The first connector of the same account at the provider, which may deliver the parts of one message over several. Absent: its own. */
  readonly sharedAs?: string;
  /** Its account; absent: that of the number or short code. */
  readonly accountId?: string;
}

/** A piece as channels hand it over. */
export type ReceivedSms = Omit<InboundPiece, "id">;

export interface InboundPart {
  /** The same in all parts of a message. */
  readonly reference: number;
  /** How many parts there are, at least 2. */
  readonly total: number;
  /** From 1 to `total`. */
  readonly number: number;
}

export interface InboundMessage {
  readonly id: string;
  /** Absent: no account has the number. */
  readonly accountId?: string;
  readonly connectorId: string;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly segments: number;
  readonly encoding: SmsEncoding;
  readonly keyword?: KeywordMeaning;
  /** Some parts did not come in time. In the text, `…` stands for each of them. */
  readonly isPartial?: true;
  readonly receivedAt: number;
}

/** What became of a piece. `waiting`: it is kept until the other parts have come, or until the time for that is up. */
export interface InboundResult {
  readonly kind: "stored" | "waiting" | "repeat";
  /** The account of a stored message; absent: no account has the number. */
  readonly accountId?: string;
  readonly keyword?: KeywordMeaning;
}

/** What came over a connector from `since` to `until`, both included. */
export interface InboundSpan {
  readonly connectorId: string;
  readonly since: number;
  readonly until: number;
}

export interface InboundQuery {
  /** `null`: messages to numbers that no account has. */
  readonly accountId: string | null;
  readonly from?: string;
  readonly to?: string;
  /** Received then or later. */
  readonly after?: number;
  /** Received earlier. */
  readonly before?: number;
  /** The last message of the page before. */
  readonly olderThan?: string;
  readonly limit: number;
}

/** The text of a message's parts by number, from 1; a part that is missing is `…`. */
export function joinParts(texts: ReadonlyMap<number, string>, total: number): string {
  let text = "";
  for (let number = 1; number <= total; number++) text += texts.get(number) ?? "…";
  return text.toWellFormed();
}
