import type { Session, SqlValue } from "../database/driver.ts";

export interface Selection {
  readonly table: string;
  /** The columns before `id` of the index along which the rows are read, and their values. */
  readonly along: { readonly columns: readonly string[]; readonly values: readonly SqlValue[] };
  /** The tests that select among these rows. `first`: the number of their first placeholder. */
  readonly only: {
    readonly tests: (first: number) => readonly string[];
    readonly values: readonly SqlValue[];
  };
}

/** A page: the first `limit` rows after the id `after`, in order of id. */
export interface Page {
  readonly after: string;
  readonly limit: number;
}

export type Row = Readonly<Record<string, unknown>>;

/** Reads a page by one statement. */
export function selectAtOnce(
  session: Session,
  { table, along, only }: Selection,
  { after, limit }: Page,
): Promise<readonly Row[]> {
  const { next, order, beyond } = walk(along);
  const meant = [...beyond, ...only.tests(next + 2)].join(" AND ");
  const sql = `SELECT * FROM ${table} WHERE ${meant} ORDER BY ${order} LIMIT $${next + 1}`;
  return session.query<Row>(sql, [...along.values, after, limit, ...only.values]);
}

/** How many rows one statement looks at: all of a million may take longer than a statement is given. */
const PIECE = 20_000;

/** Reads a page by as many statements as it takes, each of which looks at a piece of the rows. */
export async function selectInPieces(
  session: Session,
  selection: Selection,
  { after, limit }: Page,
): Promise<readonly Row[]> {
  const { table, along, only } = selection;
  const { next, order, beyond, upTo } = walk(along);
  const last = `SELECT id FROM ${table} WHERE ${beyond.join(" AND ")} ORDER BY ${order} LIMIT 1 OFFSET ${PIECE - 1}`;
  const meant = [...beyond, upTo, ...only.tests(next + 3)].join(" AND ");
  const select = `SELECT * FROM ${table} WHERE ${meant} ORDER BY ${order} LIMIT $${next + 2}`;
  const found: Row[] = [];
  for (let from = after; ; ) {
    const [end] = await session.query<{ id: string }>(last, [...along.values, from]);
    const left = limit - found.length;
    if (!end) return found.concat(await selectAtOnce(session, selection, { after: from, limit: left }));
    found.push(...(await session.query<Row>(select, [...along.values, from, end.id, left, ...only.values])));
    if (found.length >= limit) return found;
    from = end.id;
  }
}

/**
 * Conditions and an order that no other index can serve. If most records are one account's, the planner takes them all to be, and
 * then it would go through those of all accounts, in order of id, to find those of one that has hardly any: so a column is compared
 * with an array of one, which says nothing about the order.
 *
 * `next`: the number of the placeholder for the id to begin after; that of the id up to which to go is the next one.
 */
function walk({ columns }: Selection["along"]) {
  const next = columns.length + 1;
  return {
    next,
    order: [...columns, "id"].join(", "),
    beyond: [...columns.map((column, at) => `${column} = ANY(ARRAY[$${at + 1}::text])`), `id > $${next}`],
    // By itself: a search ends at a bound of several columns only where the first of them differs, and would read all that is left.
    upTo: `id <= $${next + 1}`,
  };
}
