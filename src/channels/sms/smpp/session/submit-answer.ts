import { COMMAND, decodeMessageId, type Pdu } from "../wire/pdu.ts";
import { STATUS_OK } from "../wire/status-words.ts";

/** What became of a submit_sm. */
export type SubmitAnswer =
  | { readonly kind: "answered"; readonly status: number; readonly messageId: string }
  /** generic_nack: the SMSC could not read the PDU. */
  | { readonly kind: "nacked"; readonly status: number }
  /** No answer in time. */
  | { readonly kind: "silent" }
  /** The session ended first. `wasWritten`: the submit_sm may have reached the SMSC. */
  | { readonly kind: "lost"; readonly reason: string; readonly wasWritten: boolean };

export function readSubmitAnswer({ commandId, status, body }: Pdu): SubmitAnswer {
  if (commandId === COMMAND.genericNack) return { kind: "nacked", status };
  return { kind: "answered", status, messageId: status === STATUS_OK ? decodeMessageId(body) : "" };
}
