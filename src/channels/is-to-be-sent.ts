import { isOpen } from "../core/messages/part.ts";
import type { OutgoingMessage } from "./channel.ts";

/** Whether an attempt should send the part: the attempt covers it, and it is still open, or has not been counted yet. */
export function isToBeSent({ parts, only }: Pick<OutgoingMessage, "parts" | "only">, index: number): boolean {
  const part = parts[index];
  return (part === undefined || isOpen(part)) && (only === undefined || only.includes(index));
}
