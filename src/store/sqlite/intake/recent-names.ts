import { NAMES_TO } from "../../meta.ts";
import type { Database } from "../database/database.ts";

/** The names of keys that are not in the index yet, in memory, with the numbers of their rows. */
export interface RecentNames {
  /** Reads the names that this and other connections have written since the last call. */
  catchUp(): void;
  get(name: string): number | undefined;
  /** Gives the name the next number. For use inside a transaction, after `catchUp` in it. */
  add(name: string): number;
  /** All names, in order of number. */
  entries(): Iterable<readonly [name: string, number: number]>;
  size(): number;
  /** The last number that was given. */
  lastNumber(): number;
  /** The number up to which names are in the index. */
  indexedTo(): number;
}

/** How many rows are read at once. */
const PAGE = 4_096;

export function createRecentNames(db: Database): RecentNames {
  const stored = createStoredNames(db);
  const names = createNames();
  let indexedTo = 0;

  const changes = undoOnRollback(db, {
    undo: names.removeLatest,
    forgetAll() {
      names.forgetAll();
      indexedTo = 0;
    },
  });

  return {
    catchUp() {
      const state = stored.state();
      if (state.indexedTo > indexedTo) {
        changes.noteRead();
        indexedTo = state.indexedTo;
        names.forgetTo(indexedTo);
      }
      while (state.lastNumber > names.lastNumber()) {
        changes.noteRead();
        const page = stored.page(names.lastNumber());
        for (const { name, number } of page) names.put(Buffer.from(name).toString("latin1"), number);
        if (page.length < PAGE) names.skipTo(state.lastNumber);
      }
    },
    add(name) {
      names.put(name, names.lastNumber() + 1);
      changes.noteAdded(name);
      return names.lastNumber();
    },
    get: names.get,
    entries: names.entries,
    size: names.size,
    lastNumber: names.lastNumber,
    indexedTo: () => indexedTo,
  };
}

/** Names in order of number, and the number up to which they are known. */
function createNames() {
  const names = new Map<string, number>();
  let last = 0;
  return {
    get: (name: string) => names.get(name),
    entries: () => names.entries(),
    size: () => names.size,
    lastNumber: () => last,
    put(name: string, number: number): void {
      // Deleted first, so that it moves to the end.
      names.delete(name);
      names.set(name, number);
      last = number;
    },
    /** Notes that numbers up to this one no longer have rows. */
    skipTo(number: number): void {
      last = number;
    },
    forgetTo(number: number): void {
      for (const [name, own] of names) {
        if (own > number) break;
        names.delete(name);
      }
      last = Math.max(last, number);
    },
    /** Removes the latest names. An earlier number of one of them is not restored: its row has expired. */
    removeLatest(added: readonly string[]): void {
      for (const name of added) names.delete(name);
      last -= added.length;
    },
    forgetAll(): void {
      names.clear();
      last = 0;
    },
  };
}

/**
 * After a rollback, undoes what the transaction has changed in memory. If it has also read names, some of which may have been its
 * own, everything is forgotten and read again.
 */
function undoOnRollback(
  db: Database,
  { undo, forgetAll }: { undo(added: readonly string[]): void; forgetAll(): void },
) {
  let added: string[] = [];
  let hasRead = false;
  const start = () => {
    added = [];
    hasRead = false;
  };
  db.onCommit(start);
  db.onRollback(() => {
    if (hasRead) forgetAll();
    else undo(added);
    start();
  });
  return {
    noteAdded: (name: string) => void added.push(name),
    noteRead() {
      hasRead = true;
    },
  };
}

function createStoredNames(db: Database) {
  const state = db.prepare<{ last: number | null; indexed: string | null }>(
    `SELECT (SELECT seq FROM sqlite_sequence WHERE name = 'idempotency_keys') AS last,
       (SELECT value FROM meta WHERE name = '${NAMES_TO}') AS indexed`,
  );
  const rows = db.prepare<{ number: number; name: Uint8Array }>(
    `SELECT number, substr(name, 1, 16) AS name FROM idempotency_keys WHERE number > ? ORDER BY number LIMIT ${PAGE}`,
  );
  return {
    state() {
      const { last, indexed } = state.get() ?? {};
      return { lastNumber: last ?? 0, indexedTo: Number(indexed ?? 0) };
    },
    page: (after: number) => rows.all(after),
  };
}
