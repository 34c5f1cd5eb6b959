import type { Content } from "../../../core/messages/message.ts";
import { remember } from "../../../core/work/remember.ts";
import { joinContent, type MessageRow } from "../../messages/message-rows.ts";
import type { Database } from "../database/database.ts";
import type { MessageLog } from "./message-log.ts";
import { OWN_CONTENT } from "./own-content.ts";

/** The contents of messages, as claims read them and settlements wipe them. For use inside a transaction. */
export interface Contents {
  find(message: HasContent): Content | undefined;
  /** Wipes the body of a single message, which no attempt can need any more. Batches are left to `wipeBatch`. */
  wipeSingle(message: HasContent): void;
  wipeBatch(id: number): void;
  /** Keeps the message's batch from being wiped, since its account keeps bodies. */
  keepBatch(message: HasContent): void;
}

type HasContent = Pick<MessageRow, "id" | "content">;

/** The most parsed contents that are kept. Only those of batches are, since a batch is claimed job by job. */
const MAX_PARSED = 256;

export function createContents(db: Database, messages: Pick<MessageLog, "wipe">): Contents {
  // Ids are never reused, so entries that a rollback leaves here are never read.
  const parsed = new Map<number, Content>();
  const find = db.prepare<ContentRow>("SELECT envelope, body, messages FROM contents WHERE id = ?");
  const findOwn = db.prepare<OwnRow>("SELECT envelope, body FROM messages WHERE id = ?");
  const wipeSingle = db.prepare("UPDATE contents SET body = NULL WHERE id = ? AND messages = 1");
  const wipeBatch = db.prepare("UPDATE contents SET body = NULL WHERE id = ?");
  const keepBatch = db.prepare(
    "UPDATE contents SET is_kept = 1 WHERE id = ? AND messages > 1 AND is_kept = 0",
  );

  const findShared = (id: number) => {
    const kept = parsed.get(id);
    if (kept) return kept;
    const row = find.get(id);
    const content = toContent(row);
    if (content && row && row.messages > 1) remember(parsed, [id, content], MAX_PARSED);
    return content;
  };

  return {
    find: ({ id, content }) => (content === OWN_CONTENT ? toContent(findOwn.get(id)) : findShared(content)),
    wipeSingle({ id, content }) {
      if (content === OWN_CONTENT) messages.wipe(id);
      else wipeSingle.run(content);
    },
    wipeBatch(id) {
      wipeBatch.run(id);
      parsed.delete(id);
    },
    keepBatch({ content }) {
      if (content !== OWN_CONTENT) keepBatch.run(content);
    },
  };
}

interface OwnRow {
  readonly envelope: string | null;
  readonly body: string | null;
}

interface ContentRow extends OwnRow {
  readonly messages: number;
}

function toContent(row: OwnRow | undefined): Content | undefined {
  return row && row.envelope !== null ? joinContent(row.envelope, row.body) : undefined;
}
