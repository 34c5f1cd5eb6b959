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
  // A server never takes a number back, so it is remembered. Queues are routes or connectors: there are few.
  let numbers = new Map<string, number>();
  db.onOtherServer(() => {
    numbers = new Map();
  });
  const notifier = createNotifier<string>();

  const learn = async (names: readonly string[], learnt: Map<string, number>) => {
    // In order, so that two processes that add the same queues cannot deadlock.
    await db.query(
      "INSERT INTO queues (name) SELECT name FROM unnest($1::text[]) AS t (name) ORDER BY name ON CONFLICT DO NOTHING",
      [names],
    );
    const rows = await db.query<{ name: string; number: number }>(
      "SELECT name, number FROM queues WHERE name = ANY($1)",
      [names],
    );
    for (const { name, number } of rows) learnt.set(name, number);
  };
  return {
    async numbersOf(names) {
      const known = numbers;
      const unknown = [...new Set(names)].filter((name) => !known.has(name));
      if (unknown.length > 0) await learn(unknown, known);
      return (name) => {
        const number = known.get(name);
        if (number === undefined) throw new Error("a queue was not numbered");
        return number;
      };
    },
    notify: (names) => notifier.notify(new Set(names)),
    onReady: notifier.subscribe,
  };
}
