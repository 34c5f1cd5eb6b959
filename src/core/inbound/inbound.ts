/** What handsets write to us, as the rooms see it. Times are Unix milliseconds. */
import type { SmsEncoding } from "../sms/sms-segments.ts";
import type { KeywordMeaning } from "../suppressions/opt-out.ts";

/** A message from a handset as a provider handed it over: whole, or one part of a longer one. */
export interface InboundPiece {
  /** UUIDv7 made when it came; the id of the message, where it is whole or the last part that was missing. */
  readonly id: string;
  readonly connectorId: string;
  /** As `toInboundAddress` writes it. */
  readonly from: string;
  /** The number or short code it was written to, likewise. */
  readonly to: string;
  /** Of a part: half a surrogate pair may stand at either end. */
  readonly text: string;
  readonly encoding: SmsEncoding;
  /** How many segments it came in, where the provider put them together; 1 otherwise. */
  readonly segments: number;
  readonly receivedAt: number;
  /** What tells a provider's repeat: one with the same key, connector and a time from `sameSince` on is this one. */
  readonly key: string;
  readonly sameSince: number;
  readonly part?: InboundPart;
  /** Whose it is; absent: the number or short code tells. */
  readonly accountId?: string;
}

/** As channels hand it over. */
export type ReceivedSms = Omit<InboundPiece, "id">;

export interface InboundPart {
  /** The same in all parts of a message. */
  readonly reference: number;
  /** From 2. */
  readonly total: number;
  /** From 1 to `total`. */
  readonly number: number;
}

export interface InboundMessage {
  readonly id: string;
  /** Absent: the number is nobody's. */
  readonly accountId?: string;
  readonly connectorId: string;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly segments: number;
  readonly encoding: SmsEncoding;
  readonly keyword?: KeywordMeaning;
  /** Parts did not come in time; each gap is `…`. */
  readonly isPartial?: true;
  readonly receivedAt: number;
}

/** What became of a piece. `waiting`: it is kept until the other parts have come, or their time is up. */
export interface InboundResult {
  readonly kind: "stored" | "waiting" | "repeat";
  /** Of a stored one; absent: nobody's. */
  readonly accountId?: string;
  readonly keyword?: KeywordMeaning;
}

export interface InboundQuery {
  /** `null`: those that are nobody's. */
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
