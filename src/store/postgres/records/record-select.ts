import type { RecordKind, RecordTypes } from "../../../core/records/accounts.ts";
import type { RecordSearch } from "../../records/record-search.ts";
import { columnOf, comparable, given, RECORD_TABLES, type RecordTable } from "../../records/record-tables.ts";
import type { Fields, RecordValues } from "../../records/record-values.ts";
import { isUnique } from "../../records/unique-fields.ts";
import type { RecordPage } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { searchTest, searchValues } from "./search-test.ts";
import { type Selection, selectAtOnce, selectInPieces } from "./select-in-pieces.ts";

export interface WantedPage<K extends RecordKind> extends RecordPage<K> {
  readonly where: Partial<RecordTypes[K]>;
  /** Takes several statements if it has to go through records that no index tells apart. */
  readonly isInPieces?: true;
}

/** Selects records with these values, in order of id. */
export type RecordSelect = <K extends RecordKind>(
  session: Session,
  kind: K,
  page: WantedPage<K>,
) => Promise<RecordTypes[K][]>;

export function createRecordSelect(values: RecordValues): RecordSelect {
  return async <K extends RecordKind>(
    session: Session,
    kind: K,
    { where, after = "", limit, search, isInPieces }: WantedPage<K>,
  ) => {
    const table: RecordTable = RECORD_TABLES[kind];
    const fields = given(where);
    const { accountId, ...others } = fields;
    const isPlain = search === undefined && Object.keys(others).length === 0;
    // By other fields of an account's, an index may find what is wanted at once.
    const isWalk = isPlain || (isInPieces === true && !isUnique(kind, fields));
    const isOfAccount = isWalk && accountId !== undefined && accountId !== null;
    const along: Fields = isOfAccount ? { accountId } : {};
    const only: Fields = isOfAccount ? others : fields;
    const select = isWalk && !isPlain ? selectInPieces : selectAtOnce;
    const selection = selectionOf(kind, { values, along, only, ...(search && { search }) });
    const rows = await select(session, selection, { after, limit });
    return rows.map((row) => values.toRecord(table, row) as unknown as RecordTypes[K]);
  };
}

interface Wanted<K extends RecordKind> {
  readonly values: RecordValues;
  /** The account's id, or nothing. */
  readonly along: Fields;
  readonly only: Fields;
  readonly search?: RecordSearch<K>;
}

function selectionOf<K extends RecordKind>(kind: K, { values, along, only, search }: Wanted<K>): Selection {
  const table: RecordTable = RECORD_TABLES[kind];
  const bind = (fields: Fields) =>
    Object.entries(fields).map(([field, value]) =>
      values.toSql({ table, column: columnOf(table, field), id: "" }, value),
    );
  const bound = bind(only);
  return {
    table: table.table,
    along: { columns: Object.keys(along).map((field) => columnOf(table, field).name), values: bind(along) },
    only: {
      tests: (first) => [
        ...testsOf(table, only, first),
        ...(search ? [searchTest(kind, search, first + bound.length)] : []),
      ],
      values: [...bound, ...(search ? searchValues(search) : [])],
    },
  };
}

/** @param first the number of the first placeholder */
function testsOf(table: RecordTable, fields: Fields, first: number): readonly string[] {
  return Object.entries(fields).map(([field, value], at) => {
    const { name } = comparable(table, field);
    const mark = `$${first + at}`;
    return value === null ? `${name} IS NULL AND ${mark}::text IS NULL` : `${name} = ${mark}`;
  });
}
