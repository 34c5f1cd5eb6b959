import type { RecordKind, RecordTypes } from "../../../core/records/accounts.ts";
import { columnOf, comparable, given, RECORD_TABLES, type RecordTable } from "../../records/record-tables.ts";
import type { Fields, RecordValues } from "../../records/record-values.ts";
import { isUnique } from "../../records/unique-fields.ts";
import type { RecordPage } from "../../store.ts";
import type { Database } from "../database/database.ts";
import type { SqlValue } from "../database/driver.ts";
import { selectInPieces } from "../database/select-in-pieces.ts";
import { searchTests } from "./search-tests.ts";

/** Selects records with these values, in order of id. */
export interface RecordSelect {
  /** Inside a transaction, by one statement. */
  now<K extends RecordKind>(kind: K, where: Partial<RecordTypes[K]>, page: RecordPage<K>): RecordTypes[K][];
  /** In pieces, with other work in between, if it has to go through records that no index tells apart. */
  inPieces<K extends RecordKind>(
    kind: K,
    where: Partial<RecordTypes[K]>,
    page: RecordPage<K>,
  ): Promise<RecordTypes[K][]>;
}

type Row = Readonly<Record<string, SqlValue>>;

export function createRecordSelect(db: Database, values: RecordValues): RecordSelect {
  const toValues = (table: RecordTable, fields: Fields) =>
    Object.entries(fields).map(([field, value]) =>
      values.toSql({ table, column: columnOf(table, field), id: "" }, value),
    );
  const now: RecordSelect["now"] = <K extends RecordKind>(
    kind: K,
    where: Partial<RecordTypes[K]>,
    page: RecordPage<K>,
  ) => {
    const table: RecordTable = RECORD_TABLES[kind];
    const fields = given(where);
    // The plus keeps SQLite from choosing an index for its order, such as that of all records of the account.
    const id = isUnique(kind, fields) ? "+id" : "id";
    const search = searchTests(kind, page.search);
    const tests = [...testsOf(table, fields), ...search.tests, `${id} > ?`].join(" AND ");
    const statement = db.prepare<Row>(`SELECT * FROM ${table.table} WHERE ${tests} ORDER BY ${id} LIMIT ?`);
    const bound = [...toValues(table, fields), ...search.values];
    const rows = statement.all(...bound, page.after ?? "", page.limit);
    return rows.map((row) => values.toRecord(table, row) as unknown as RecordTypes[K]);
  };

  return {
    now,
    async inPieces<K extends RecordKind>(kind: K, where: Partial<RecordTypes[K]>, page: RecordPage<K>) {
      const fields = given(where);
      const table: RecordTable = RECORD_TABLES[kind];
      const { accountId, ...others } = fields;
      const search = searchTests(kind, page.search);
      const only = {
        tests: [...testsOf(table, others), ...search.tests],
        values: [...toValues(table, others), ...search.values],
      };
      if (only.tests.length === 0 || isUnique(kind, fields)) return db.read(() => now(kind, where, page));
      const along = accountId === undefined ? {} : { accountId };
      const rows = await selectInPieces<Row & { readonly id: string }>(db, {
        table: table.table,
        page,
        along: { tests: testsOf(table, along), values: toValues(table, along) },
        only,
      });
      return rows.map((row) => values.toRecord(table, row) as unknown as RecordTypes[K]);
    },
  };
}

function testsOf(table: RecordTable, fields: Fields): readonly string[] {
  return Object.entries(fields).map(([field, value]) => {
    const { name } = comparable(table, field);
    return value === null ? `${name} IS NULL AND ? IS NULL` : `${name} = ?`;
  });
}
