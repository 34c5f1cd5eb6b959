import type { Database } from "./database.ts";

/** An answer that holds until the transaction ends, after which others may write. */
export interface OncePerTransaction<Answer> {
  get(): Answer;
  /** To be called when the transaction itself has changed the answer. */
  forget(): void;
}

/** Asks once in each transaction, at the first use, and remembers the answer. For use inside transactions only. */
export function oncePerTransaction<Answer>(
  db: Pick<Database, "onCommit" | "onRollback">,
  ask: () => Answer,
): OncePerTransaction<Answer> {
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
