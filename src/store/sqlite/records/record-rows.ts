import type { RecordKind, RecordTypes } from "../../../core/records/accounts.ts";
import { isStill } from "../../records/record-change.ts";
import { columnOf, given, RECORD_TABLES, type RecordTable } from "../../records/record-tables.ts";
import type { Fields, RecordValues } from "../../records/record-values.ts";
import type { Conflict, RecordChanges, Updated } from "../../store.ts";
import type { Database } from "../database/database.ts";
import { isConstraint, type SqlValue } from "../database/driver.ts";
import type { RowNumbers } from "../database/row-numbers.ts";
import { type AccountRules, createAccountRules } from "./account-rules.ts";
import { createRecordSelect, type RecordSelect } from "./record-select.ts";

/** The statements behind `Records`, to be run inside a transaction. */
export interface RecordRows {
  insert<K extends RecordKind>(kind: K, record: RecordTypes[K]): "created" | Conflict;
  readonly select: RecordSelect;
  update<K extends RecordKind>(kind: K, read: RecordTypes[K], changes: RecordChanges<K>): Updated<K>;
  remove(kind: RecordKind, id: string): boolean | "in_use";
}

type Row = Readonly<Record<string, SqlValue>>;

export function createRecordRows(db: Database, values: RecordValues, numbers: RowNumbers): RecordRows {
  const isThere = (table: RecordTable, id: string) =>
    db.prepare(`SELECT 1 FROM ${table.table} WHERE id = ?`).get(id) !== undefined;
  const write = createWrite(isThere);
  const rules = createAccountRules(db);
  const nextAccount = numbers("accounts");
  const toRow: ToRow = (table, id, fields) =>
    Object.fromEntries(
      Object.entries(fields).map(([field, value]) => {
        const column = columnOf(table, field);
        return [column.name, values.toSql({ table, column, id }, value)];
      }),
    );
  return {
    insert(kind, record) {
      const table: RecordTable = RECORD_TABLES[kind];
      const fields = given(record);
      const refused = rules.refuse(kind, fields);
      if (refused) return refused;
      const number = kind === "accounts" && { number: nextAccount() };
      const row = { ...number, ...toRow(table, record.id, fields) };
      const statement = db.prepare(insertSql(table, row));
      const done = write(table, fields, () => statement.run(...Object.values(row)));
      if (typeof done !== "number") return done;
      rules.keep(kind, fields);
      return "created";
    },
    select: createRecordSelect(db, values),
    update: createUpdate(db, values, { write, rules, toRow }),
    remove: (kind, id) => removeNow(db, kind, id),
  };
}

/** The columns of these fields, with what is stored in them. */
type ToRow = (table: RecordTable, id: string, fields: Fields) => Row;

interface Writing {
  readonly write: Write;
  readonly rules: AccountRules;
  readonly toRow: ToRow;
}

function createUpdate(
  db: Database,
  values: RecordValues,
  { write, rules, toRow }: Writing,
): RecordRows["update"] {
  return <K extends RecordKind>(kind: K, read: RecordTypes[K], changes: RecordChanges<K>): Updated<K> => {
    const table: RecordTable = RECORD_TABLES[kind];
    const { id } = read;
    const fields = given(changes);
    if ("id" in fields) throw new Error("an id never changes: secrets are sealed with it");
    const row = toRow(table, id, fields);
    const find = () => {
      const row = db.prepare<Row>(`SELECT * FROM ${table.table} WHERE id = ?`).get(id);
      return row && (values.toRecord(table, row) as unknown as RecordTypes[K]);
    };
    const now = find();
    if (!now) return undefined;
    if (!isStill(read, now)) return { overtakenBy: now };
    if (Object.keys(row).length === 0) return now;
    const refused = rules.refuse(kind, { ...fields, id });
    if (refused) return refused;
    const done = write(table, fields, () => db.prepare(updateSql(table, row)).run(...Object.values(row), id));
    if (typeof done !== "number") return done;
    rules.keep(kind, { ...fields, id });
    return find();
  };
}

/** Statements that find a row that uses the record with this id, for uses that are no foreign keys. */
const USERS: { readonly [K in RecordKind]?: readonly string[] } = {
  // The tables of its records are listed too: to check a foreign key, SQLite would go through all rows that refer to the account.
  accounts: [
    "SELECT 1 FROM accounts WHERE id = ? AND has_messages = 1",
    "SELECT 1 FROM api_keys WHERE account_id = ? AND revoked_at IS NULL",
    ...Object.values<RecordTable>(RECORD_TABLES)
      .filter(({ table, columns }) => columns.accountId && table !== "api_keys")
      .map(({ table }) => `SELECT 1 FROM ${table} WHERE account_id = ?`),
  ],
  // No index has all registrations of an app, but each has a token or a device id: foreign keys would look at those of all apps.
  pushApps: ["token", "device_id"].map(
    (name) => `SELECT 1 FROM registrations WHERE app_id = ? AND ${name} IS NOT NULL`,
  ),
  connectors: ["SELECT 1 FROM routes, json_each(routes.connector_ids) AS used WHERE used.value = ?"],
  // The queue is named by the route's id. A route with jobs stays: all jobs were looked at before, in pieces, but some may have come since.
  routes: [
    `SELECT 1 FROM queues JOIN jobs ON jobs.queue = queues.number AND jobs.due_at IS NULL WHERE queues.name = ?`,
  ],
};

/** Deletes what goes with a record because operators cannot delete it by itself: revoked keys, and devices. */
const BELONGINGS: { readonly [K in RecordKind]?: string } = {
  accounts: "DELETE FROM api_keys WHERE account_id = ? AND revoked_at IS NOT NULL",
  contacts: "DELETE FROM registrations WHERE contact_id = ?",
};

function removeNow(db: Database, kind: RecordKind, id: string): boolean | "in_use" {
  const { table } = RECORD_TABLES[kind];
  if (db.prepare(`SELECT 1 FROM ${table} WHERE id = ?`).get(id) === undefined) return false;
  if (USERS[kind]?.some((sql) => db.prepare(`${sql} LIMIT 1`).get(id) !== undefined)) return "in_use";
  db.prepare("SAVEPOINT removal").run();
  try {
    const belongings = BELONGINGS[kind];
    if (belongings !== undefined) db.prepare(belongings).run(id);
    db.prepare(`DELETE FROM ${table} WHERE id = ?`).run(id);
    return true;
  } catch (error) {
    if (!isConstraint(error)) throw error;
    db.prepare("ROLLBACK TO removal").run();
    return "in_use";
  } finally {
    db.prepare("RELEASE removal").run();
  }
}

type Write = (table: RecordTable, fields: Fields, run: () => number) => number | Conflict;

/** Runs a statement. Returns how many rows it changed, or the field that was in conflict. */
function createWrite(isThere: (table: RecordTable, id: string) => boolean): Write {
  /** Finds the first field that refers to a record that does not exist. */
  const orphanOf = (table: RecordTable, fields: Fields) =>
    Object.entries(fields).find(([field, value]) => {
      const { parent } = columnOf(table, field);
      if (!parent || value === undefined || value === null) return false;
      return [value].flat().some((id) => !isThere(RECORD_TABLES[parent], String(id)));
    })?.[0];

  return (table, fields, run) => {
    const orphan = orphanOf(table, fields);
    if (orphan !== undefined) return { conflict: orphan };
    try {
      return run();
    } catch (error) {
      const taken = isConstraint(error) ? takenField(table, error) : undefined;
      if (taken === undefined) throw error;
      return { conflict: taken };
    }
  };
}

function insertSql({ table }: RecordTable, row: Row): string {
  const names = Object.keys(row);
  const marks = names.map(() => "?");
  return `INSERT INTO ${table} (${names.join(", ")}) VALUES (${marks.join(", ")})`;
}

function updateSql({ table }: RecordTable, row: Row): string {
  const sets = Object.keys(row).map((name) => `${name} = ?`);
  return `UPDATE ${table} SET ${sets.join(", ")} WHERE id = ?`;
}

/** SQLite says `UNIQUE constraint failed: senders.account_id, senders.sender_id`; the last column is the one taken. */
function takenField(table: RecordTable, error: unknown): string | undefined {
  const message = error instanceof Error ? error.message : "";
  const last = /^UNIQUE constraint failed: (?:.*\.)?(\w+)$/.exec(message)?.[1];
  return Object.entries(table.columns).find(([, column]) => column.name === last)?.[0];
}
