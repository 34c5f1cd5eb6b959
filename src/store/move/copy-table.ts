import { uuidTime } from "../../core/uuid.ts";
import type { Session, SqlValue } from "../postgres/database/driver.ts";
import { type Column, columnsOf } from "../postgres/database/table-columns.ts";
import type { Database } from "../postgres/database/transactions.ts";
import type { Days } from "../postgres/retention/days.ts";
import type { Driver as Source, SqlValue as SourceValue } from "../sqlite/database/driver.ts";
import type { MovedTable } from "./moved-tables.ts";

export interface Moving {
  readonly source: Source;
  readonly target: Database;
  readonly days: Days;
}

/** How far a walk has come: the key of the last row copied (`null`: none), and how many have been. */
export interface Place {
  readonly after: readonly SourceValue[] | null;
  readonly rows: number;
}

export interface Walk {
  readonly place: Place;
  /** Called in the transaction that writes the rows, so that an interrupted walk goes on behind them. */
  readonly keep: (session: Session, place: Place) => Promise<void>;
  readonly onRows: (rows: number) => void;
}

const ROWS = 2_000;

/** Copies the rows that are left of one walk. Nobody may write to the source meanwhile. */
export async function copyTable(
  moving: Moving,
  table: MovedTable,
  { place, keep, onRows }: Walk,
): Promise<void> {
  const columns = await columnsOf(moving.target, table.table);
  const read = createReader(moving.source, table, columns);
  const insert = insertOf(table, columns);
  let { after, rows } = place;
  for (let batch = read(after); batch.length > 0; batch = read(after)) {
    const last = batch.at(-1)?.key ?? [];
    rows += batch.length;
    await ensureDays(moving.days, table, { columns, batch });
    const values = columns.map((_, index) => batch.map(({ values }) => values[index] ?? null));
    await moving.target.transaction(async (session) => {
      await session.query(insert, values);
      await keep(session, { after: last, rows });
    });
    after = last;
    onRows(rows);
  }
}

interface Row {
  readonly key: readonly SourceValue[];
  readonly values: readonly Single[];
}

type Single = Exclude<SqlValue, readonly unknown[]>;

function createReader(
  source: Source,
  { table, from = table, read = {}, convert = {}, where = "true", rows = ROWS }: MovedTable,
  columns: readonly Column[],
): (after: Place["after"]) => readonly Row[] {
  const key = keyOf(source, from);
  const shown = [
    ...columns.map(({ name }, index) => `${read[name] ?? `${from}.${name}`} AS c${index}`),
    ...key.map((name, index) => `${from}.${name} AS k${index}`),
  ];
  const of = key.map((name) => `${from}.${name}`).join(", ");
  const select = (beyond: string) =>
    source.prepare<Record<string, SourceValue>>(
      `SELECT ${shown.join(", ")} FROM ${from} WHERE ${where} ${beyond} ORDER BY ${of} LIMIT ${rows}`,
    );
  const first = select("");
  const next = select(`AND (${of}) > (${key.map(() => "?").join(", ")})`);
  const toRow = (row: Record<string, SourceValue>): Row => ({
    key: key.map((_, index) => row[`k${index}`] ?? null),
    values: columns.map(({ name, type }, index) => {
      const value = row[`c${index}`] ?? null;
      return toTarget(convert[name] ? convert[name](value) : value, type);
    }),
  });
  return (after) => (after === null ? first.all() : next.all(...after)).map(toRow);
}

/** The columns by which the table's rows are ordered on disk. */
function keyOf(source: Source, table: string): readonly string[] {
  const [found] = source
    .prepare<{ wr: number }>("SELECT wr FROM pragma_table_list(?) WHERE schema = 'main'")
    .all(table);
  if (!found) throw new Error(`SQLite has no table ${table}`);
  if (found.wr === 0) return ["rowid"];
  return source
    .prepare<{ name: string }>("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk")
    .all(table)
    .map(({ name }) => name);
}

function toTarget(value: unknown, type: string): Single {
  if (value === null) return null;
  if (type === "boolean") return value !== 0;
  if (typeof value === "string" || typeof value === "number") return value;
  throw new Error(`a value of type ${type} is neither text nor number in SQLite`);
}

function insertOf({ table, replaces }: MovedTable, columns: readonly Column[]): string {
  const names = columns.map(({ name }) => name);
  const lists = columns.map(({ type }, index) => `$${index + 1}::${type}[]`);
  const set = names.map((name) => `${name} = excluded.${name}`);
  const conflict = replaces === undefined ? "" : `ON CONFLICT (${replaces}) DO UPDATE SET ${set.join(", ")}`;
  return `INSERT INTO ${table} (${names.join(", ")}) OVERRIDING SYSTEM VALUE
    SELECT * FROM unnest(${lists.join(", ")}) ${conflict}`;
}

async function ensureDays(
  days: Days,
  { day }: MovedTable,
  { columns, batch }: { readonly columns: readonly Column[]; readonly batch: readonly Row[] },
): Promise<void> {
  if (day === undefined) return;
  const index = columns.findIndex(({ name }) => name === day);
  await days.ensure(batch.map(({ values }) => uuidTime(String(values[index])) ?? 0));
}
