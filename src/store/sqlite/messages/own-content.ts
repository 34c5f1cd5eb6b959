import type { ChannelName } from "../../../core/messages/message.ts";
import type { MessageRow } from "../../messages/message-rows.ts";
import type { Database } from "../database/database.ts";

/** In place of a content's number: the content has no row of its own, but is in the row of its message. */
export const OWN_CONTENT = 0;

/**
 * The most characters of content in a message's row. The row is written whenever the message moves, and beyond about a thousand
 * octets it would need pages of its own.
 */
const MAX_OWN = 600;

/** Whether the content of a single message goes into its row. */
export function fitsInMessageRow(channel: ChannelName, envelope: string, body: string | null): boolean {
  return channel === "sms" && envelope.length + (body?.length ?? 0) <= MAX_OWN;
}

/** Finds the content of a message without its body; `undefined` if it is gone. */
type EnvelopeOf = (
  row: Pick<MessageRow, "content"> & { readonly envelope: string | null },
) => string | undefined;

/** Finds shared contents by a separate statement: a join took three times as long. */
export function createEnvelopeOf(db: Database): EnvelopeOf {
  const find = db.prepare<{ envelope: string }>("SELECT envelope FROM contents WHERE id = ?");
  return ({ content, envelope }) => envelope ?? find.get(content)?.envelope;
}
