/** What a timeline's entries of attempts tell the rules about receipts. */
import type { TimelineEntry } from "../../core/messages/message.ts";
import type { SizeOf } from "./receipt-state.ts";

/** Whether an entry shows that the connector was handed the message, or may have been: see `wasHandedTo`. */
export function saysHandedTo(
  { kind, detail }: Pick<TimelineEntry, "kind" | "detail">,
  connectorId: string,
): boolean {
  return kind === "interrupted" || (isOfAttempt({ kind }) && detail?.connector === connectorId);
}

export function isOfAttempt({ kind }: Pick<TimelineEntry, "kind">): boolean {
  return kind === "attempt" || kind === "lost_settle";
}

/** The size that an attempt has counted, read from its entry's detail. */
export function readSize({ segments, encoding }: Readonly<Record<string, unknown>>): ReturnType<SizeOf> {
  return {
    ...(typeof segments === "number" && { segments }),
    ...(typeof encoding === "string" && { encoding }),
  };
}
