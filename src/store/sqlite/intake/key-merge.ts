import type { Database } from "../database/database.ts";
import { createRowInsert } from "../database/row-insert.ts";
import type { RecentNames } from "./recent-names.ts";

/** Under what name `meta` has the number up to which names are in the index. */
export const NAMES_TO = "key_names_to";

/** Names that go to the index for each that comes. */
const PACE = 2;

/**
 * Moves names to the index, a generation at a time and in order of name, a few with every key that comes: neighbours
 * share a page and its writing. Several connections may do the same at once: what is there already is left alone,
 * and a newer number stays.
 */
export function createKeyMerge(
  db: Database,
  { recent, generation }: { readonly recent: RecentNames; readonly generation: number },
): { goOn(): void } {
  const insert = createRowInsert(db, {
    into: "key_names",
    columns: "name, number",
    otherwise: "ON CONFLICT (name) DO UPDATE SET number = excluded.number WHERE number < excluded.number",
  });
  const mark = db.prepare(
    `INSERT INTO meta (name, value) VALUES ('${NAMES_TO}', ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  );
  let merging: Generation | undefined;
  let owed = 0;

  /** But for those that were given a newer number since: they go with a later generation. */
  const rowsOf = (names: readonly string[], lastNumber: number) => {
    const values: (Buffer | number)[] = [];
    for (const name of names) {
      const number = recent.get(name);
      if (number !== undefined && number <= lastNumber) values.push(Buffer.from(name, "latin1"), number);
    }
    return values;
  };
  const merge = (wanted: number) => {
    if (recent.size() < 2 * generation) return;
    const current = merging && merging.lastNumber > recent.indexedTo() ? merging : freeze(recent, generation);
    merging = current;
    const names = current.take(wanted);
    insert(rowsOf(names, current.lastNumber));
    if (names.length === wanted) return;
    mark.run(String(current.lastNumber));
    merging = undefined;
  };
  db.beforeEnd(() => {
    if (owed === 0) return;
    merge(owed);
    owed = 0;
  });
  db.onRollback(() => {
    merging = undefined;
    owed = 0;
  });
  return {
    goOn() {
      owed += PACE;
    },
  };
}

interface Generation {
  readonly lastNumber: number;
  /** The next names in their order; fewer than `count` at its end. */
  take(count: number): readonly string[];
}

/** The older names. They are put in order by their first byte now, and the rest when its turn comes: no turn of the loop takes long. */
function freeze(recent: RecentNames, generation: number): Generation {
  const lastNumber = recent.lastNumber() - generation;
  const byFirst: string[][] = Array.from({ length: 256 }, () => []);
  for (const [name, number] of recent.entries()) {
    if (number > lastNumber) break;
    byFirst[name.charCodeAt(0)]?.push(name);
  }
  let sorted: string[] = [];
  let at = 0;
  let first = 0;
  return {
    lastNumber,
    take(count) {
      const taken: string[] = [];
      while (taken.length < count) {
        if (at < sorted.length) taken.push(sorted[at++] ?? "");
        else if (first === byFirst.length) break;
        else {
          sorted = (byFirst[first++] ?? []).sort();
          at = 0;
        }
      }
      return taken;
    },
  };
}
