import type { PartOutcome } from "../../core/messages/outcome.ts";

/**
 * The first id that the provider gave to a part, as it wrote it. For the timeline: the provider's support asks for it, and a
 * receipt that matches nothing can be compared with it. Our own id, by which some providers report, is not the provider's.
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
