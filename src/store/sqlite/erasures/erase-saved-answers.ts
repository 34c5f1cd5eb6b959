import { present } from "../../../core/present.ts";
import { uuidTime } from "../../../core/uuid.ts";
import { type ErasureTask, messageTo, scrubAnswer } from "../../erasures/erasure-work.ts";
import type { Database } from "../database/database.ts";
import { type SavedBody, toSavedBody, toSavedText } from "../intake/idempotency-keys.ts";
import type { AccountCache } from "../records/account-cache.ts";
import { NUMBERS } from "../unreadable-rows.ts";
import type { Walk } from "./erasures.ts";
import { createStretchEnd } from "./stretch-end.ts";

/**
 * Takes the number out of answers saved under idempotency keys. The answers stay: a repeat of the request must not send
 * again.
 */
export function createAnswerErasure(db: Database, accounts: AccountCache): Walk {
  const endOf = createStretchEnd<number>(db, { table: "idempotency_keys", key: "number", keys: NUMBERS });
  const rows = db.prepare<{ number: number; body: SavedBody }>(
    "SELECT number, body FROM idempotency_keys WHERE number > ? AND number <= ? ORDER BY number LIMIT ?",
  );
  const update = db.prepare("UPDATE idempotency_keys SET body = ? WHERE number = ?");
  const accountOf = db.prepare<{ account: number }>("SELECT account FROM messages WHERE id = ?");

  const isMeant = ({ recipient, accountId, createdAt }: ErasureTask, text: string): boolean => {
    const id = messageTo(text, recipient);
    if (id === undefined || (uuidTime(id) ?? 0) > createdAt) return false;
    if (accountId === undefined) return true;
    const message = accountOf.get(id);
    // Messages outlive answers, unless they are erased: then the answer could not be changed before.
    return !message || message.account === accounts.byId(accountId)?.number;
  };

  return (task, { position, looks, goesOnAt }) => {
    if (!task.recipient.startsWith("+")) return {};
    const after = Number(position);
    const end = endOf({ after, rows: looks }, (to) => goesOnAt(to?.toString()));
    for (const { number, body } of rows.all(after, end ?? Number.MAX_SAFE_INTEGER, Math.ceil(looks))) {
      const text = toSavedText(body);
      if (!isMeant(task, text)) continue;
      update.run(toSavedBody(scrubAnswer(text, task.recipient)), number);
    }
    return present({ next: end?.toString() });
  };
}
