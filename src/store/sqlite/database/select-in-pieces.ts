import { setImmediate } from "node:timers/promises";
import type { Database } from "./database.ts";
import type { SqlValue } from "./driver.ts";

/** Tests in SQL, and the values of their placeholders. */
interface Tests {
  readonly tests: readonly string[];
  readonly values: readonly SqlValue[];
}

interface Selection {
  readonly table: string;
  /** What an index that goes on with the id leads to. */
  readonly along: Tests;
  /** Which of them are meant. */
  readonly only: Tests;
  readonly page: { readonly after?: string; readonly limit: number };
}

/** Rows that are looked at in one go, with others' work in between: there may be many before the first that is meant. */
const PIECE = 2_000;

/** A page of a table's rows in order of id. */
export async function selectInPieces<Row extends { readonly id: string }>(
  db: Database,
  { table, along, only, page }: Selection,
): Promise<readonly Row[]> {
  const where = (tests: readonly string[]) => tests.join(" AND ");
  const end = db.prepare<{ id: string }>(
    `SELECT id FROM ${table} WHERE ${where([...along.tests, "id > ?"])} ORDER BY id LIMIT 1 OFFSET ${PIECE - 1}`,
  );
  const within = where([...along.tests, "id > ?", "id <= ?", ...only.tests]);
  const meant = db.prepare<Row>(`SELECT * FROM ${table} WHERE ${within} ORDER BY id LIMIT ?`);
  const found: Row[] = [];
  for (let after = page.after ?? ""; ; await setImmediate()) {
    const to = await db.read(() => {
      const last = only.tests.length === 0 ? undefined : end.get(...along.values, after)?.id;
      const left = page.limit - found.length;
      found.push(...meant.all(...along.values, after, last ?? ABOVE_ALL, ...only.values, left));
      return last;
    });
    if (to === undefined || found.length >= page.limit) return found;
    after = to;
  }
}

/** Above every id. */
const ABOVE_ALL = "g";
