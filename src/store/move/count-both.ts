import type { Session } from "../postgres/database/driver.ts";
import type { Driver as Source } from "../sqlite/database/driver.ts";
import { ONE_SIDED } from "./move-marks.ts";
import { type MovedTable, movedTables } from "./moved-tables.ts";

/** How many rows of one kind there are on both sides. */
export interface Counted {
  /** A table, or rows of it: `messages, status delivered`. */
  readonly what: string;
  readonly sqlite: number;
  readonly postgres: number;
}

/** Counts what is moved, on each side by itself. */
export async function countBoth(source: Source, target: Session): Promise<readonly Counted[]> {
  const counted: Counted[] = [];
  const walks = Map.groupBy(movedTables(), ({ table }) => table);
  for (const [table, all] of walks) {
    const elsewhere = all.filter(({ from }) => from !== undefined);
    const { countBy, read = {} } = all[0] ?? {};
    counted.push(...(await compare(source, target, { table, countBy, read, elsewhere })));
  }
  return counted;
}

interface Compared {
  readonly table: string;
  readonly countBy: string | undefined;
  readonly read: NonNullable<MovedTable["read"]>;
  /** Walks over rows that SQLite has in another table. */
  readonly elsewhere: readonly MovedTable[];
}

interface Group {
  readonly value: string | null;
  readonly rows: number;
}

async function compare(
  source: Source,
  target: Session,
  { table, countBy, read, elsewhere }: Compared,
): Promise<readonly Counted[]> {
  const of = countBy ?? "NULL";
  const count = (value: string) =>
    `SELECT ${value} AS value, count(*) AS rows FROM ${table} ${own(table)} GROUP BY 1`;
  const here = byValue([
    ...source.prepare<Group>(count(read[of] ?? of)).all(),
    ...elsewhere.flatMap((walk) => source.prepare<Group>(countOf(walk)).all()),
  ]);
  const there = byValue(await target.query<Group>(count(of)));
  const values = [...new Set([...here.keys(), ...there.keys()])].toSorted();
  const groups = values.map((value) => ({
    what: countBy === undefined ? table : `${table}, ${countBy} ${value}`,
    sqlite: here.get(value) ?? 0,
    postgres: there.get(value) ?? 0,
  }));
  return groups.length > 0 ? groups : [{ what: table, sqlite: 0, postgres: 0 }];
}

function countOf({ from, where = "true" }: MovedTable): string {
  return `SELECT NULL AS value, count(*) AS rows FROM ${from} WHERE ${where}`;
}

function own(table: string): string {
  return table === "meta" ? `WHERE NOT ${ONE_SIDED}` : "";
}

function byValue(groups: readonly Group[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { value, rows } of groups) sums.set(value ?? "", (sums.get(value ?? "") ?? 0) + rows);
  return sums;
}
