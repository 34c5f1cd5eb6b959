import { awaitedFrom, idAt } from "../../core/messages/copies.ts";
import type { Content, Progress } from "../../core/messages/message.ts";
import type { PartRef } from "../../core/messages/outcome.ts";
import { sentFrom } from "../../core/sms/sent-from.ts";
import type { Question } from "../store.ts";

type Overdue = PartRef & { readonly connectorId: string };

/** What to ask a connector about an overdue part; `undefined` if there is nothing to ask: it is settled, or has no id there. */
export function toQuestion(
  { messageId, part, connectorId }: Overdue,
  progress: Progress,
  contentOf: () => Content | undefined,
): Question | undefined {
  const found = progress.parts[part];
  const providerMessageId = found?.status === "sent" ? idAt(found, connectorId) : undefined;
  if (providerMessageId === undefined) return undefined;
  const content = contentOf();
  const from = content?.channel === "sms" ? sentFrom(content) : undefined;
  return { messageId, part, providerMessageId, ...(from !== undefined && { from }) };
}

/** The connector to ask instead, about a copy that is still there: of more than two copies, not all have a row. */
export function askedNext(
  { part, connectorId }: Omit<Overdue, "messageId">,
  progress: Progress,
): string | undefined {
  const found = progress.parts[part];
  const next = awaitedFrom(found, connectorId);
  return next !== connectorId && found?.providerMessageId !== undefined ? next : undefined;
}
