import type { Session, SqlValue } from "../database/driver.ts";

export interface Selection {
  readonly table: string;
  /** The tests by which an index finds the rows, in order of id. Their placeholders begin at `$1`. */
  readonly along: { readonly tests: readonly string[]; readonly values: readonly SqlValue[] };
  /** Further tests, which select among these rows. `first`: the number of their first placeholder. */
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
  const next = along.tests.length + 1;
  const where = [...along.tests, `id > $${next}`, ...only.tests(next + 2)].join(" AND ");
  const sql = `SELECT * FROM ${table} WHERE ${where} ORDER BY id LIMIT $${next + 1}`;
  return session.query<Row>(sql, [...along.values, after, limit, ...only.values]);
}

/** How many rows one statement looks at: all of a million may take longer than a statement is given. */
const PIECE = 20_000;

/** Above every id. */
const ABOVE_ALL = "g";

/** Reads a page by as many statements as it takes, each of which looks at a piece of the rows. */
export async function selectInPieces(
  session: Session,
  { table, along, only }: Selection,
  { after, limit }: Page,
): Promise<readonly Row[]> {
  const next = along.tests.length + 1;
  const beyond = [...along.tests, `id > $${next}`];
  const last = `SELECT id FROM ${table} WHERE ${beyond.join(" AND ")} ORDER BY id LIMIT 1 OFFSET ${PIECE - 1}`;
  const meant = [...beyond, `id <= $${next + 1}`, ...only.tests(next + 3)].join(" AND ");
  const select = `SELECT * FROM ${table} WHERE ${meant} ORDER BY id LIMIT $${next + 2}`;
  const found: Row[] = [];
  for (let from = after; ; ) {
    const [end] = await session.query<{ id: string }>(last, [...along.values, from]);
    const piece = [from, end?.id ?? ABOVE_ALL, limit - found.length];
    found.push(...(await session.query<Row>(select, [...along.values, ...piece, ...only.values])));
    if (!end || found.length >= limit) return found;
    from = end.id;
  }
}
