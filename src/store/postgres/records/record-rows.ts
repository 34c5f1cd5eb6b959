import type { RecordKind, RecordTypes } from "../../../core/records/accounts.ts";
import { isStill } from "../../records/record-change.ts";
import { columnOf, given, RECORD_TABLES, type RecordTable } from "../../records/record-tables.ts";
import type { Fields, RecordValues } from "../../records/record-values.ts";
import type { Conflict, RecordChanges, Updated } from "../../store.ts";
import type { Session, SqlValue } from "../database/driver.ts";
import { isForeignKey, takenColumns } from "../database/sql-errors.ts";
import { applyAccountRules, lockForRules } from "./account-rules.ts";
import { createRecordSelect, type RecordSelect } from "./record-select.ts";
import { createTakenField } from "./taken-field.ts";

/** The statements behind `Records`. Writes belong in a transaction that is rolled back if they throw. */
export interface RecordRows {
  insert<K extends RecordKind>(
    session: Session,
    kind: K,
    record: RecordTypes[K],
  ): Promise<"created" | Conflict>;
  readonly select: RecordSelect;
  update<K extends RecordKind>(
    session: Session,
    kind: K,
    change: { read: RecordTypes[K]; changes: RecordChanges<K> },
  ): Promise<Updated<K>>;
  remove(session: Session, kind: RecordKind, id: string): Promise<boolean | "in_use">;
}

export function createRecordRows(values: RecordValues): RecordRows {
  const bind: Bind = (table, id, fields) =>
    Object.entries(fields).map(([field, value]) =>
      values.toSql({ table, column: columnOf(table, field), id }, value),
    );

  const takenField = createTakenField();
  return {
    async insert(session, kind, record) {
      const table: RecordTable = RECORD_TABLES[kind];
      const fields = given(record);
      const orphan = await orphanOf(session, table, fields);
      if (orphan !== undefined) return { conflict: orphan };
      await lockForRules(session, kind, fields);
      const taken = await takenField(session, { table, record, isThere: false });
      if (taken !== undefined) return { conflict: taken };
      const refused = await applyAccountRules(session, kind, fields);
      if (refused) return refused;
      await session.query(insertSql(table, fields), bind(table, record.id, fields));
      return "created";
    },
    select: createRecordSelect(values),
    update: createUpdate(values, bind, takenField),
    remove: removeNow,
  };
}

type Bind = (table: RecordTable, id: string, fields: Fields) => SqlValue[];

/** Locks the record before comparing it, so that nobody changes it in between. */
function createUpdate(
  values: RecordValues,
  bind: Bind,
  takenField: ReturnType<typeof createTakenField>,
): RecordRows["update"] {
  return async <K extends RecordKind>(
    session: Session,
    kind: K,
    { read, changes }: { read: RecordTypes[K]; changes: RecordChanges<K> },
  ): Promise<Updated<K>> => {
    const table: RecordTable = RECORD_TABLES[kind];
    const { id, accountId }: { id: string; accountId?: string } = read;
    const fields = given(changes);
    if ("id" in fields) throw new Error("an id never changes: secrets are sealed with it");
    const bound = bind(table, id, fields);
    const runOn = async (sql: string, ...before: SqlValue[]) => {
      const [row] = await session.query<Record<string, unknown>>(sql, [...before, id]);
      return row && (values.toRecord(table, row) as unknown as RecordTypes[K]);
    };
    const ruled = { ...fields, id, accountId };
    await lockForRules(session, kind, ruled);
    const now = await runOn(`SELECT * FROM ${table.table} WHERE id = $1 FOR NO KEY UPDATE`);
    if (!now) return undefined;
    if (!isStill(read, now)) return { overtakenBy: now };
    if (bound.length === 0) return now;
    const orphan = await orphanOf(session, table, fields);
    if (orphan !== undefined) return { conflict: orphan };
    const taken = await takenField(session, { table, record: { ...now, ...changes }, isThere: true });
    if (taken !== undefined) return { conflict: taken };
    const refused = await applyAccountRules(session, kind, ruled);
    return refused ?? runOn(updateSql(table, fields), ...bound);
  };
}

/** The conflict behind a unique violation, if another transaction wrote the same meanwhile; rethrows any other error. */
export function toConflict(kind: RecordKind, error: unknown): Conflict {
  const taken = takenColumns(error)?.at(-1);
  const field = Object.entries<{ name: string }>(RECORD_TABLES[kind].columns).find(
    ([, column]) => column.name === taken,
  );
  if (!field) throw error;
  return { conflict: field[0] };
}

/** Statements that find a row that uses the record with this id, for uses that are no foreign keys. */
const USERS: { readonly [K in RecordKind]?: string } = {
  accounts: "SELECT 1 FROM accounts WHERE id = $1 AND has_messages",
  connectors: "SELECT 1 FROM routes WHERE connector_ids::jsonb @> to_jsonb($1::text) LIMIT 1",
  // Its id names its queue: while jobs are in it, the route stays.
  routes: `SELECT 1 FROM queues WHERE name = $1 AND (
    EXISTS (SELECT 1 FROM jobs WHERE queue = queues.number AND due_at IS NULL)
    OR EXISTS (SELECT 1 FROM jobs WHERE queue = queues.number AND due_at IS NOT NULL))`,
};

/** Deletes what goes with a record because operators cannot delete it by itself: revoked keys, and devices. */
const BELONGINGS: { readonly [K in RecordKind]?: string } = {
  accounts: "DELETE FROM api_keys WHERE account_id = $1 AND revoked_at IS NOT NULL",
  contacts: "DELETE FROM registrations WHERE contact_id = $1",
};

/** Locks a contact's devices. To be used before the contact is locked, the order in which `identify` locks them. */
const LOCK_DEVICES = "SELECT 1 FROM registrations WHERE contact_id = $1 ORDER BY id || '' FOR UPDATE";

/** Locks the record first, so that nobody begins to use it after the check. */
async function removeNow(session: Session, kind: RecordKind, id: string): Promise<boolean | "in_use"> {
  const { table } = RECORD_TABLES[kind];
  if (kind === "contacts") await session.query(LOCK_DEVICES, [id]);
  const found = await session.query(`SELECT 1 FROM ${table} WHERE id = $1 FOR UPDATE`, [id]);
  if (found.length === 0) return false;
  const users = USERS[kind];
  if (users !== undefined && (await session.query(users, [id])).length > 0) return "in_use";
  await session.query("SAVEPOINT removal");
  try {
    const belongings = BELONGINGS[kind];
    if (belongings !== undefined) await session.query(belongings, [id]);
    await session.query(`DELETE FROM ${table} WHERE id = $1`, [id]);
    return true;
  } catch (error) {
    if (!isForeignKey(error)) throw error;
    await session.query("ROLLBACK TO removal");
    return "in_use";
  }
}

/** Finds the first field that refers to a record that does not exist. Locks records that do, so that they stay until the commit. */
async function orphanOf(session: Session, table: RecordTable, fields: Fields): Promise<string | undefined> {
  for (const [field, value] of Object.entries(fields)) {
    const { parent } = columnOf(table, field);
    if (!parent || value === null) continue;
    const ids = [...new Set([value].flat().map(String))].sort();
    const sql = `SELECT id FROM ${RECORD_TABLES[parent].table} WHERE id = ANY($1) ORDER BY id FOR KEY SHARE`;
    if ((await session.query(sql, [ids])).length < ids.length) return field;
  }
  return undefined;
}

function insertSql(table: RecordTable, fields: Fields): string {
  const names = Object.keys(fields).map((field) => columnOf(table, field).name);
  const marks = names.map((_, index) => `$${index + 1}`);
  return `INSERT INTO ${table.table} (${names.join(", ")}) VALUES (${marks.join(", ")})`;
}

function updateSql(table: RecordTable, fields: Fields): string {
  const sets = Object.keys(fields).map((field, at) => `${columnOf(table, field).name} = $${at + 1}`);
  return `UPDATE ${table.table} SET ${sets.join(", ")} WHERE id = $${sets.length + 1} RETURNING *`;
}
