import type { ShortMessage } from "../../src/channels/sms/smpp/wire/pdu.ts";

export type BoundAs = "transceiver" | "transmitter" | "receiver";

/** What goes wrong from now on; an absent member goes well. Change it at any time. */
export interface SmscDial {
  /** command_status of the answer to a bind; a function is asked for each, undefined being 0. */
  bindStatus?: number | ((boundAs: BoundAs | undefined) => number | undefined);
  /** Binds get no answer. */
  ignoreBind?: boolean;
  /** How many sessions of a kind may be bound: each one more ends the oldest. */
  sessions?: number;
  /** The connection ends as soon as it is made. */
  hangUp?: boolean;
  /** Milliseconds by which answers to submit_sm are delayed. */
  delayMs?: number;
  /** How many submit_sm are still to be throttled; counts down. */
  throttle?: number;
  /** command_status of the answer to a submit_sm; a function is asked for each, undefined being 0. */
  submitStatus?: number | ((message: ShortMessage) => number | undefined);
  /** submit_sm get a generic_nack of this status. */
  nack?: number;
  /** submit_sm get no answer before `release`. */
  holdSubmits?: boolean;
  /** The connection drops when a submit_sm is in: before its answer, or in the middle of it. */
  drop?: "before answer" | "mid answer";
  /** Octets sent in place of the answer to a submit_sm. */
  garbage?: Uint8Array;
  ignoreEnquireLink?: boolean;
  /** message_state and error_code that a query_sm about this id gets; without one it is refused. */
  queryState?: (messageId: string) => readonly [state: number, errorCode: number] | undefined;
  /** Receipts that every accepted submit_sm gets: before its answer, right after it, or only by `sendReceipt`. */
  receipts?: "early" | "after" | "none";
  receiptForm?: "tlv" | "text";
  /** The state in receipts, as their text writes it. */
  receiptState?: string;
  /** The `err` of receipts in text; absent: 000. */
  receiptError?: string;
  /** What submit_sm_resp makes of the message id. */
  writeId?: (id: string) => string;
  /** How submit_sm_resp and receipt write the message id. */
  ids?: "same" | "hex, receipt decimal" | "decimal, receipt hex";
}
