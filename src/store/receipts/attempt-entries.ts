/** What the entries of attempts on a timeline say about receipts to come. */
import type { TimelineEntry } from "../../core/messages/message.ts";
import type { SizeOf } from "./receipt-state.ts";

/** Whether an entry says that the connector was handed the message, or may have been: see `wasHandedTo`. */
export function saysHandedTo(
  { kind, detail }: Pick<TimelineEntry, "kind" | "detail">,
  connectorId: string,
): boolean {
  return kind === "interrupted" || (isOfAttempt({ kind }) && detail?.connector === connectorId);
}

export function isOfAttempt({ kind }: Pick<TimelineEntry, "kind">): boolean {
  return kind === "attempt" || kind === "lost_settle";
}

/** How many segments an attempt has counted, from its detail. */
export function readSize({ segments, encoding }: Readonly<Record<string, unknown>>): ReturnType<SizeOf> {
  return {
    ...(typeof segments === "number" && { segments }),
    ...(typeof encoding === "string" && { encoding }),
  };
}
