import type { SavedAnswer } from "../../../core/messages/accept-request.ts";
import { WAIT_FOR_STANDBY } from "../database/lost-commit.ts";
import type { Database } from "../database/transactions.ts";
import { type AskedKey, findAnswers, KeyHeld, NO_PATIENCE_MS, refuseKey } from "./idempotency-keys.ts";

/**
 * The answer under a key, also if it was committed only just now; `in_progress`: another transaction is taking the key. What that
 * stores cannot be read before its commit, but a key that it holds cannot be taken. So the key is taken, for a refusal: requests that
 * came before, and wait in another process, are not accepted under it any more.
 */
export async function probeKey(
  db: Database,
  asked: AskedKey,
): Promise<SavedAnswer | "in_progress" | undefined> {
  try {
    return await db.transaction(async (session) => {
      const others = await refuseKey(session, asked, NO_PATIENCE_MS);
      if (others.size === 0) return undefined;
      const answers = await findAnswers(session, [asked]);
      await session.query(WAIT_FOR_STANDBY);
      return answers.get(0);
    });
  } catch (error) {
    if (error instanceof KeyHeld) return "in_progress";
    throw error;
  }
}
