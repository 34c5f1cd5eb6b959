import type { Content } from "../../core/message.ts";
import { joinContent } from "../message-rows.ts";
import type { Database } from "./database.ts";

/** Contents as claims hand them out and settlements wipe them; inside a transaction. */
export interface ContentShelf {
  find(id: number): Content | undefined;
  /** No attempt can need the body of a single message any more. Batches wait for `wipeBatch`. */
  wipeSingle(id: number): void;
  wipeBatch(id: number): void;
  /** The account keeps its bodies: this batch's is not to be wiped. */
  keepBatch(id: number): void;
}

/** Batches come back job after job, so theirs are kept parsed; a single's would only be in the way. */
const MAX_PARSED = 256;

export function createContentShelf(db: Database): ContentShelf {
  // Ids are never given twice, so what a rollback leaves here is asked for by nobody.
  const parsed = new Map<number, Content>();
  const find = db.prepare<ContentRow>("SELECT envelope, body, messages FROM contents WHERE id = ?");
  const wipeSingle = db.prepare("UPDATE contents SET body = NULL WHERE id = ? AND messages = 1");
  const wipeBatch = db.prepare("UPDATE contents SET body = NULL WHERE id = ?");
  const keepBatch = db.prepare(
    "UPDATE contents SET is_kept = 1 WHERE id = ? AND messages > 1 AND is_kept = 0",
  );

  return {
    find(id) {
      const kept = parsed.get(id);
      if (kept) return kept;
      const row = find.get(id);
      if (!row) return undefined;
      const content = joinContent(row.envelope, row.body);
      if (row.messages > 1) keep(parsed, id, content);
      return content;
    },
    wipeSingle: (id) => void wipeSingle.run(id),
    wipeBatch(id) {
      wipeBatch.run(id);
      parsed.delete(id);
    },
    keepBatch: (id) => void keepBatch.run(id),
  };
}

interface ContentRow {
  readonly envelope: string;
  readonly body: string | null;
  readonly messages: number;
}

/** The one kept longest goes first. */
function keep(parsed: Map<number, Content>, id: number, content: Content): void {
  const oldest = parsed.size >= MAX_PARSED ? parsed.keys().next().value : undefined;
  if (oldest !== undefined) parsed.delete(oldest);
  parsed.set(id, content);
}
