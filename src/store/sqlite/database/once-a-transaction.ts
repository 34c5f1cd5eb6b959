import type { Database } from "./database.ts";

/** An answer that holds until the transaction ends: then others may write. */
export interface OnceATransaction<Answer> {
  get(): Answer;
  /** The transaction itself has changed what it is about. */
  forget(): void;
}

/** Asks at the first use in each transaction. Only inside transactions. */
export function onceATransaction<Answer>(
  db: Pick<Database, "onCommit" | "onRollback">,
  ask: () => Answer,
): OnceATransaction<Answer> {
  let kept: { readonly answer: Answer } | undefined;
  const forget = () => {
    kept = undefined;
  };
  db.onCommit(forget);
  db.onRollback(forget);
  return {
    get() {
      kept ??= { answer: ask() };
      return kept.answer;
    },
    forget,
  };
}
