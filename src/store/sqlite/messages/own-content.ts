import type { MessageRow } from "../../messages/message-rows.ts";
import type { Database } from "../database/database.ts";

/** Stands for the number of a content that has no row of its own, but is in the row of its message. */
export const OWN_CONTENT = 0;

/**
 * The most characters of content that the row of a message holds. The row is written whenever the message moves, and
 * beyond a thousand octets or so it would take pages of its own.
 */
const MAX_OWN = 600;

/** Whether the content of a single message goes into its row. */
export function fitsInMessageRow(channel: string, envelope: string, body: string | null): boolean {
  return channel === "sms" && envelope.length + (body?.length ?? 0) <= MAX_OWN;
}

/** Finds the content of a message without its body; `undefined` if it is gone. */
type EnvelopeOf = (
  row: Pick<MessageRow, "content"> & { readonly envelope: string | null },
) => string | undefined;

/** Shared contents are found by a statement of their own: a join took three times as long. */
export function createEnvelopeOf(db: Database): EnvelopeOf {
  const find = db.prepare<{ envelope: string }>("SELECT envelope FROM contents WHERE id = ?");
  return ({ content, envelope }) => envelope ?? find.get(content)?.envelope;
}
