import type { Queue } from "../../store.ts";
import type { Database } from "../database/database.ts";
import type { ContentPieces } from "./content-pieces.ts";

/** `Queue.largeBody`. */
export function createLargeBody(db: Database, pieces: ContentPieces): NonNullable<Queue["largeBody"]> {
  const find = db.prepare<{ content: number; pieces: number }>(
    "SELECT m.content, c.pieces FROM messages m JOIN contents c ON c.id = m.content WHERE m.id = ?",
  );
  return async (messageId) => {
    const row = await db.read(() => find.get(messageId));
    return row && row.pieces > 0 ? pieces.read(row.content, row.pieces) : undefined;
  };
}
