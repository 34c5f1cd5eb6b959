import { NAMES_TO } from "../../meta.ts";
import type { Database } from "../database/database.ts";
import { isDamage } from "../database/driver.ts";
import { writeMeta } from "../database/meta.ts";
import { createRowInsert } from "../database/row-insert.ts";
import type { RecentNames } from "./recent-names.ts";

/** How many names are merged for each one that is added. */
const PACE = 2;

/** In how many steps a generation is merged, each in one transaction. */
const STEPS = 32;

/**
 * Merges names into the index: a generation at a time, in order of name, so that neighbours share a page; and in steps, as keys are
 * added, so that no transaction takes long. Not a few names with every transaction: a page that is split in the middle of an index
 * makes SQLite look at every page of its cache at the commit, as long as the file is smaller than 1 GiB (ADR 27).
 *
 * Where a page of the index is damaged, the call fails with its merge, and otherwise every later one with a key would: the merge is tried
 * again with the next generation. Meanwhile all names stay in memory, some hundred bytes each.
 *
 * Several connections may do so at once: a name that is in the index already keeps the newer number.
 */
export function createKeyMerge(
  db: Database,
  { recent, generation }: { readonly recent: RecentNames; readonly generation: number },
): { keyAdded(): void } {
  const index = createNameIndex(db);
  const step = Math.ceil(generation / STEPS);
  let merging: Generation | undefined;
  let hasTaken = false; // from `merging`, in this transaction
  let hasMetDamage = false; // in this transaction
  let owed = 0;

  const merge = (wanted: number) => {
    if (recent.size() < 2 * generation) return;
    const current = merging && merging.lastNumber > recent.indexedTo() ? merging : freeze(recent, generation);
    merging = current;
    hasTaken = true;
    const names = current.take(wanted);
    index.insert(rowsOf(recent, names, current.lastNumber));
    if (names.length === wanted) return;
    index.markTo(current.lastNumber);
    merging = undefined;
  };
  db.beforeEnd(() => {
    if (owed < step) return;
    try {
      merge(owed);
    } catch (error) {
      hasMetDamage = isDamage(error);
      throw error;
    }
    owed = 0;
  });
  db.onCommit(() => {
    hasTaken = false;
  });
  db.onRollback(() => {
    // Names that were taken are not in the index: the generation begins anew. Otherwise it goes on, and what is owed stays owed, so
    // that calls which fail now and then do not keep names from the index; but no more than a step, or the first call after many
    // that failed, as they do on a full disk, would move a whole generation.
    if (hasTaken) merging = undefined;
    hasTaken = false;
    owed = hasMetDamage ? -PACE * generation : Math.min(owed, step);
    hasMetDamage = false;
  });
  return {
    keyAdded() {
      owed += PACE;
    },
  };
}

/** The rows of names, without those that have been given a newer number: they belong to a later generation. */
function rowsOf(recent: RecentNames, names: readonly string[], lastNumber: number): (Buffer | number)[] {
  const values: (Buffer | number)[] = [];
  for (const name of names) {
    const number = recent.get(name);
    if (number !== undefined && number <= lastNumber) values.push(Buffer.from(name, "latin1"), number);
  }
  return values;
}

function createNameIndex(db: Database) {
  const insert = createRowInsert(db, {
    into: "key_names",
    columns: "name, number",
    otherwise: "ON CONFLICT (name) DO UPDATE SET number = excluded.number WHERE number < excluded.number",
  });
  return {
    insert,
    /** Notes that all names up to this number are in the index. */
    markTo: (number: number) => writeMeta(db, NAMES_TO, String(number)),
  };
}

interface Generation {
  readonly lastNumber: number;
  /** The next names, in order of name; fewer than `count` at the end. */
  take(count: number): readonly string[];
}

/**
 * The older names. They are grouped by their first byte at once, but each group is sorted only when its turn comes, so that no turn
 * of the event loop takes long.
 */
function freeze(recent: RecentNames, generation: number): Generation {
  const lastNumber = recent.lastNumber() - generation;
  const byFirstByte: string[][] = Array.from({ length: 256 }, () => []);
  for (const [name, number] of recent.entries()) {
    if (number > lastNumber) break;
    byFirstByte[name.charCodeAt(0)]?.push(name);
  }
  let sorted: string[] = [];
  let at = 0;
  let nextByte = 0;
  return {
    lastNumber,
    take(count) {
      const taken: string[] = [];
      while (taken.length < count) {
        if (at < sorted.length) taken.push(sorted[at++] ?? "");
        else if (nextByte === byFirstByte.length) break;
        else {
          sorted = (byFirstByte[nextByte++] ?? []).sort();
          at = 0;
        }
      }
      return taken;
    },
  };
}
