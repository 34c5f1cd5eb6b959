import { createCommitNotifier } from "../database/commit-notifier.ts";
import type { Database } from "../database/database.ts";

/** Numbers queues, since jobs name their queue by its number, and notifies listeners after a commit that makes jobs ready. */
export interface Queues {
  /** The queue's number; `undefined` if it never had a job. */
  numberOf(name: string): number | undefined;
  /** The queue's number; gives it one if it has none. Only within a transaction. */
  numberFor(name: string): number;
  nameOf(number: number): string;
  all(): readonly { readonly number: number; readonly name: string }[];
  /** To be called within a transaction that makes jobs of the queue ready. */
  notify(name: string): void;
  onReady(listener: (queue: string) => void): () => void;
}

/** The most queues that are remembered. They are routes or connectors, so there are few; beyond this all are forgotten and read again. */
const MAX_KEPT = 10_000;

export function createQueues(db: Database): Queues {
  const numbers = new Map<string, number>();
  const names = new Map<number, string>();
  const notifier = createCommitNotifier<string>(db);
  const findNumber = db.prepare<{ number: number }>("SELECT number FROM queues WHERE name = ?");
  const findName = db.prepare<{ name: string }>("SELECT name FROM queues WHERE number = ?");
  const insert = db.prepare<{ number: number }>("INSERT INTO queues (name) VALUES (?) RETURNING number");
  const list = db.prepare<{ number: number; name: string }>("SELECT number, name FROM queues ORDER BY name");

  const forget = () => {
    numbers.clear();
    names.clear();
  };
  db.onRollback(forget);

  const keep = (name: string, number: number | undefined) => {
    if (number === undefined) return undefined;
    if (numbers.size >= MAX_KEPT) forget();
    numbers.set(name, number);
    return number;
  };
  const numberOf = (name: string) => numbers.get(name) ?? keep(name, findNumber.get(name)?.number);

  return {
    numberOf,
    numberFor(name) {
      const number = numberOf(name) ?? keep(name, insert.get(name)?.number);
      if (number === undefined) throw new Error("a queue was not numbered");
      return number;
    },
    nameOf(number) {
      const name = names.get(number) ?? findName.get(number)?.name;
      if (name === undefined) throw new Error(`no queue has the number ${number}`);
      names.set(number, name);
      return name;
    },
    all: () => list.all(),
    notify: notifier.notify,
    onReady: notifier.subscribe,
  };
}
