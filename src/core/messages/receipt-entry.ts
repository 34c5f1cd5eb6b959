/** Timeline entries about receipts. Pure. */
import type { Part, Progress, TimelineEntry } from "./message.ts";
import type { Receipt } from "./outcome.ts";
import { statusInWords } from "./part.ts";
import { append, type Step } from "./step.ts";

/** A timeline of this length gets no more of these entries, so that a provider that repeats receipts cannot fill the disk. */
const MAX_ENTRIES = 200;

/** Notes a receipt that comes too late to change anything. `part`: the part that it is about. */
export function lateReceipt(before: Progress, receipt: Receipt, part?: Part): Step {
  if (before.position >= MAX_ENTRIES) return { progress: before, entries: [] };
  return append(before, {
    at: receipt.receivedAt,
    kind: "late_receipt",
    ...subjectOf(before, part),
    detail: receiptDetail(receipt),
    ...(receipt.error && { error: receipt.error }),
  });
}

/** Notes a receipt that changes no status. */
export function notedReceipt(before: Progress, receipt: Receipt, part: Part): Step {
  if (before.position >= MAX_ENTRIES) return { progress: before, entries: [] };
  return append(before, {
    at: receipt.receivedAt,
    kind: "receipt",
    ...subjectOf(before, part),
    detail: receiptDetail(receipt),
  });
}

/** What the entry is about, and its status: the message, or one recipient of an email, who is as far as the message while open. */
function subjectOf(
  { status }: Progress,
  part: Part | undefined,
): Pick<TimelineEntry, "status" | "recipient"> {
  if (part?.address === undefined) return { status };
  return { status: statusInWords(part, status), recipient: part.address };
}

export function receiptDetail(receipt: Receipt): NonNullable<TimelineEntry["detail"]> {
  return {
    connector: receipt.connectorId,
    ...(receipt.providerMessageId !== "" && { provider_message_id: receipt.providerMessageId }),
    receipt_status: receipt.status,
    ...(receipt.raw !== undefined && { raw: receipt.raw }),
  };
}
