import { createNotifier } from "../../notifier.ts";
import type { Database } from "../database/transactions.ts";

/** Numbers queues, since rows of jobs name them by number, and notifies listeners after a commit that makes jobs ready. */
export interface Queues {
  /** Makes sure that each of these queues has a number, and returns a look-up of them. */
  numbersOf(names: Iterable<string>): Promise<(name: string) => number>;
  /** To be called after a commit that has made jobs of the queues ready. */
  notify(names: Iterable<string>): void;
  onReady(listener: (queue: string) => void): () => void;
}

export function createQueues(db: Database): Queues {
  // A number is never taken back, so it is remembered for good. Queues are routes or connectors: there are few.
  const numbers = new Map<string, number>();
  const notifier = createNotifier<string>();

  const learn = async (names: readonly string[]) => {
    // In order, so that two processes that add the same queues cannot deadlock.
    await db.query(
      "INSERT INTO queues (name) SELECT name FROM unnest($1::text[]) AS t (name) ORDER BY name ON CONFLICT DO NOTHING",
      [names],
    );
    const rows = await db.query<{ name: string; number: number }>(
      "SELECT name, number FROM queues WHERE name = ANY($1)",
      [names],
    );
    for (const { name, number } of rows) numbers.set(name, number);
  };
  const numberOf = (name: string): number => {
    const number = numbers.get(name);
    if (number === undefined) throw new Error("a queue was not numbered");
    return number;
  };
  return {
    async numbersOf(names) {
      const unknown = [...new Set(names)].filter((name) => !numbers.has(name));
      if (unknown.length > 0) await learn(unknown);
      return numberOf;
    },
    notify: (names) => notifier.notify(new Set(names)),
    onReady: notifier.subscribe,
  };
}
