import { setImmediate } from "node:timers/promises";
import type { ListOrder } from "../../../core/lists/list-order.ts";
import type { Database } from "./database.ts";
import type { SqlValue } from "./driver.ts";

/** Tests in SQL, and the values of their placeholders. */
export interface Tests {
  readonly tests: readonly string[];
  readonly values: readonly SqlValue[];
}

interface Selection {
  readonly table: string;
  /** The tests by which an index finds the rows, in order of id. */
  readonly along: Tests;
  /** Further tests, which select among these rows. */
  readonly only: Tests;
  readonly page: { readonly after?: string; readonly limit: number; readonly order?: ListOrder };
}

/** How many rows are looked at in one piece, with other work between the pieces: the first selected row may be far away. */
const PIECE = 2_000;

/** Reads a page of a table's rows in order of id, from either end. */
export async function selectInPieces<Row extends { readonly id: string }>(
  db: Database,
  { table, along, only, page }: Selection,
): Promise<readonly Row[]> {
  const where = (tests: readonly string[]) => tests.join(" AND ");
  const { beyond, upTo, sorted, first, last: outermost } = ORDERS[page.order ?? "oldest"];
  const end = db.prepare<{ id: string }>(
    `SELECT id FROM ${table} WHERE ${where([...along.tests, beyond])} ${sorted} LIMIT 1 OFFSET ${PIECE - 1}`,
  );
  const within = where([...along.tests, beyond, upTo, ...only.tests]);
  const meant = db.prepare<Row>(`SELECT * FROM ${table} WHERE ${within} ${sorted} LIMIT ?`);
  const found: Row[] = [];
  for (let after = page.after ?? first; ; await setImmediate()) {
    const to = await db.read(() => {
      const last = only.tests.length === 0 ? undefined : end.get(...along.values, after)?.id;
      const left = page.limit - found.length;
      found.push(...meant.all(...along.values, after, last ?? outermost, ...only.values, left));
      return last;
    });
    if (to === undefined || found.length >= page.limit) return found;
    after = to;
  }
}

/** Below, and above, every id. */
const [BELOW_ALL, ABOVE_ALL] = ["", "g"];

const ORDERS = {
  oldest: { beyond: "id > ?", upTo: "id <= ?", sorted: "ORDER BY id", first: BELOW_ALL, last: ABOVE_ALL },
  newest: {
    beyond: "id < ?",
    upTo: "id >= ?",
    sorted: "ORDER BY id DESC",
    first: ABOVE_ALL,
    last: BELOW_ALL,
  },
} as const satisfies Record<ListOrder, object>;
