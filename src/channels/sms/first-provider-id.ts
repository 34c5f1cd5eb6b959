import type { PartOutcome } from "../../core/messages/outcome.ts";

/**
 * For the timeline, as the provider wrote it: its support asks for it, and a receipt that matches nothing can be compared
 * with it. Our own id, which some providers report with, is none of theirs.
 */
export function firstProviderId(
  messageId: string,
  parts: readonly (PartOutcome | undefined)[],
): { readonly provider_message_id?: string } {
  for (const part of parts) {
    if (part?.kind !== "sent") continue;
    const id = part.providerMessageIds.find((each) => each !== messageId);
    if (id !== undefined) return { provider_message_id: id };
  }
  return {};
}
