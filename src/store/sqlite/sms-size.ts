import type { Database } from "./database.ts";

/** Segments and encoding of an SMS, as its last attempt counted them; empty where none did. Inside a transaction. */
export type SizeOf = (messageId: string) => { readonly segments?: number; readonly encoding?: string };

export function createSizeOf(db: Database): SizeOf {
  const last = db.prepare<{ detail: string | null }>(
    `SELECT detail FROM timeline WHERE message_id = ? AND kind IN ('attempt', 'lost_settle')
     ORDER BY position DESC LIMIT 1`,
  );
  return (messageId) => {
    const { segments, encoding } = JSON.parse(last.get(messageId)?.detail ?? "{}");
    return {
      ...(typeof segments === "number" && { segments }),
      ...(typeof encoding === "string" && { encoding }),
    };
  };
}
