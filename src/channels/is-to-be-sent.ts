import { isOpen } from "../core/messages/part.ts";
import type { OutgoingMessage } from "./channel.ts";

/** Whether an attempt is to send the part: it is still open, or has not been counted yet, and the attempt covers it. */
export function isToBeSent({ parts, only }: Pick<OutgoingMessage, "parts" | "only">, index: number): boolean {
  const part = parts[index];
  return (part === undefined || isOpen(part)) && (only === undefined || only.includes(index));
}
