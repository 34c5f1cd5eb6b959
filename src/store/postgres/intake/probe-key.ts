import type { SavedAnswer } from "../../../core/messages/accept-request.ts";
import { WAIT_FOR_STANDBY } from "../database/lost-commit.ts";
import type { Database } from "../database/transactions.ts";
import { type AskedKey, findAnswers, KeyHeld, NO_PATIENCE_MS, takeKeys } from "./idempotency-keys.ts";

/**
 * The answer under a key, also if it was committed only just now; `in_progress`: another transaction is taking the key. What that
 * stores cannot be read before its commit, but a key that it holds cannot be taken. So the key is taken, and given back at once.
 */
export async function probeKey(
  db: Database,
  asked: AskedKey,
): Promise<SavedAnswer | "in_progress" | undefined> {
  const probe = { ...asked, expiresAt: asked.now, bodyDigest: "", answer: { status: 0, body: "" } };
  try {
    return await db.transaction(async (session) => {
      const others = await takeKeys(session, [probe], NO_PATIENCE_MS);
      // Rolls back: nothing is to be stored.
      if (others.size === 0) throw new KeyFree();
      const answers = await findAnswers(session, [asked]);
      await session.query(WAIT_FOR_STANDBY);
      return answers.get(0);
    });
  } catch (error) {
    if (error instanceof KeyFree) return undefined;
    if (error instanceof KeyHeld) return "in_progress";
    throw error;
  }
}

class KeyFree extends Error {}
