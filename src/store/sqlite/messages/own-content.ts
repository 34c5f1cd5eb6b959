import type { MessageRow } from "../../messages/message-rows.ts";
import type { Database } from "../database/database.ts";
import type { PackedAccept } from "../intake/packed-accept.ts";

/** The number of a content that has no row of its own: it is in that of its message. */
export const OWN = 0;

/**
 * Characters of a content that are kept in the row of a message at the most. Whenever the message moves its row is
 * written, and beyond a thousand octets or so it would take pages of its own.
 */
const MAX_OWN = 600;

/** Whether the content of a request goes into the row of its message. */
export function isOwnContent([, , channel, envelope, body, , messages]: PackedAccept): boolean {
  return channel === "sms" && messages.length === 1 && envelope.length + (body?.length ?? 0) <= MAX_OWN;
}

/** What is left of the content of a message once its body is wiped; `undefined` where it is gone. */
type EnvelopeOf = (
  row: Pick<MessageRow, "content"> & { readonly envelope: string | null },
) => string | undefined;

/** A statement of its own where it is shared: as a join the same took three times as long. */
export function createEnvelopeOf(db: Database): EnvelopeOf {
  const find = db.prepare<{ envelope: string }>("SELECT envelope FROM contents WHERE id = ?");
  return ({ content, envelope }) => envelope ?? find.get(content)?.envelope;
}
