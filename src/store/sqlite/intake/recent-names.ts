import type { Database } from "../database/database.ts";
import { NAMES_TO } from "./key-merge.ts";

/** The names of keys that are not in the index yet, with the numbers of their rows. */
export interface RecentNames {
  /** Takes in what has been written since, here or by other connections. */
  look(): void;
  get(name: string): number | undefined;
  /** The number of a new row. Inside a transaction, after a `look` in it. */
  add(name: string): number;
  /** In order of number. */
  entries(): Iterable<readonly [name: string, number: number]>;
  size(): number;
  /** The last number that was given. */
  lastNumber(): number;
  /** Up to which number names are in the index. */
  indexedTo(): number;
}

/** Rows read at once. */
const PAGE = 4_096;

export function createRecentNames(db: Database): RecentNames {
  const written = createWritten(db);
  const names = createNames();
  let indexedTo = 0;

  const changes = undoOnRollback(db, {
    undo: names.takeBack,
    forgetAll() {
      names.forgetAll();
      indexedTo = 0;
    },
  });

  return {
    look() {
      const state = written.state();
      if (state.indexedTo > indexedTo) {
        changes.note();
        indexedTo = state.indexedTo;
        names.forgetTo(indexedTo);
      }
      while (state.lastNumber > names.lastNumber()) {
        changes.note();
        const page = written.page(names.lastNumber());
        for (const { name, number } of page) names.put(Buffer.from(name).toString("latin1"), number);
        if (page.length < PAGE) names.passOver(state.lastNumber);
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

/** In order of number, and up to which number they are known. */
function createNames() {
  const names = new Map<string, number>();
  let last = 0;
  return {
    get: (name: string) => names.get(name),
    entries: () => names.entries(),
    size: () => names.size,
    lastNumber: () => last,
    put(name: string, number: number): void {
      // Behind all others, where it was among them too.
      names.delete(name);
      names.set(name, number);
      last = number;
    },
    /** Numbers up to this one have no rows any more. */
    passOver(number: number): void {
      last = number;
    },
    forgetTo(number: number): void {
      for (const [name, own] of names) {
        if (own > number) break;
        names.delete(name);
      }
      last = Math.max(last, number);
    },
    /** The latest. What one of them had before is not put back: its row has expired. */
    takeBack(added: readonly string[]): void {
      for (const name of added) names.delete(name);
      last -= added.length;
    },
    forgetAll(): void {
      names.clear();
      last = 0;
    },
  };
}

/** What the transaction under way has changed in memory: taken back with it, or, where that is not sure, all of it read again. */
function undoOnRollback(
  db: Database,
  { undo, forgetAll }: { undo(added: readonly string[]): void; forgetAll(): void },
) {
  let added: string[] = [];
  let isUnsure = false;
  const start = () => {
    added = [];
    isUnsure = false;
  };
  db.onCommit(start);
  db.onRollback(() => {
    if (isUnsure) forgetAll();
    else undo(added);
    start();
  });
  return {
    noteAdded: (name: string) => void added.push(name),
    /** Something was read, perhaps of this transaction's own writing. */
    note() {
      isUnsure = true;
    },
  };
}

function createWritten(db: Database) {
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
