import type { Database } from "../database/transactions.ts";

/** Queues are named by number in the rows of jobs; and who waits for which queue is told after the commit. */
export interface QueueBook {
  /** The numbers of these queues; each gets one that has none. */
  numbersOf(names: Iterable<string>): Promise<(name: string) => number>;
  /** After a commit: jobs of the queues have become ready. */
  ring(names: Iterable<string>): void;
  onReady(listener: (queue: string) => void): () => void;
}

export function createQueueBook(db: Database): QueueBook {
  // A number is never taken back, so it is remembered for good. Queues are routes: there are few.
  const numbers = new Map<string, number>();
  const listeners = new Set<(queue: string) => void>();

  const learn = async (names: readonly string[]) => {
    // In order, so that two processes that meet the same queues do not wait for one another.
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
    ring(names) {
      for (const name of new Set(names)) for (const listener of listeners) listener(name);
    },
    onReady(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
