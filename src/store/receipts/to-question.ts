import type { Content, Progress } from "../../core/messages/message.ts";
import type { PartRef } from "../../core/messages/outcome.ts";
import type { Question } from "../store.ts";

/** What to ask about an overdue part; `undefined` where there is nothing to ask: it is settled, or has no id. */
export function toQuestion(
  { messageId, part }: PartRef,
  progress: Progress,
  contentOf: () => Content | undefined,
): Question | undefined {
  const { status, providerMessageId } = progress.parts[part] ?? {};
  if (status !== "sent" || providerMessageId === undefined) return undefined;
  const content = contentOf();
  const from = content?.channel === "sms" ? (content.resolved?.from ?? content.from) : undefined;
  return { messageId, part, providerMessageId, ...(from !== undefined && { from }) };
}
