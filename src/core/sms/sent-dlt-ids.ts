import type { SmsContent } from "../messages/message.ts";

/** The DLT ids of an SMS: those that were found when it was accepted, or else those that its request names. */
export function sentDltIds({
  resolved,
  dltTemplateId,
  dltEntityId,
}: Pick<SmsContent, "resolved" | "dltTemplateId" | "dltEntityId">) {
  return {
    dltTemplateId: resolved?.dltTemplateId ?? dltTemplateId,
    dltEntityId: resolved?.dltEntityId ?? dltEntityId,
  };
}
