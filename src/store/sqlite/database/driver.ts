/** The one file that touches `bun:sqlite`. Everything above it would run on another driver of the same shape. */
import { type Changes, constants, Database, SQLiteError } from "bun:sqlite";

export type SqlValue = string | number | null | Uint8Array;

export interface Statement<Row> {
  get(...values: readonly SqlValue[]): Row | undefined;
  all(...values: readonly SqlValue[]): Row[];
  /** The number of rows changed. */
  run(...values: readonly SqlValue[]): number;
  /**
   * Returns the rowid of the last row inserted; cheaper than RETURNING, which first gathers its rows in a table. Takes
   * its values as one list, since they may be those of many rows.
   */
  insert(values: readonly SqlValue[]): number;
}

export interface Driver {
  /**
   * Compiled when it first runs, then kept: a store has hundreds, and a start waits for few of them. A hot statement with
   * ORDER BY compares columns with `+?`, not `?`: if the planner has used a parameter, SQLite compiles the statement again for
   * every value.
   */
  prepare<Row = unknown>(sql: string): Statement<Row>;
  /** Runs one or several statements without values. */
  exec(sql: string): void;
  isInTransaction(): boolean;
  /** Whether the file that is open has been deleted or replaced at its path. */
  hasMoved(): boolean;
  close(): void;
}

/**
 * Opens a database file, or a private one in memory (`:memory:`). A file that is missing is created, unless `isReadOnly`
 * or `create: false` is given.
 */
export function openDriver(path: string, { isReadOnly = false, create = true } = {}): Driver {
  const database = new Database(path, isReadOnly ? { readonly: true } : { create, readwrite: true });
  const kept = new Map<string, FinalStatement>();
  return {
    prepare<Row>(sql: string) {
      let statement = kept.get(sql);
      if (!statement) {
        statement = wrap(database, sql);
        kept.set(sql, statement);
      }
      return statement as Statement<Row>;
    },
    exec: (sql) => void database.run(sql),
    isInTransaction: () => database.inTransaction,
    hasMoved() {
      // An int, in the eight bytes that are asked for at least. Stays 0 where files that are open cannot be deleted at all.
      const answer = new Int32Array(2);
      database.fileControl(constants.SQLITE_FCNTL_HAS_MOVED, answer);
      return answer[0] !== 0;
    },
    close() {
      // A statement that is left open would keep the file open until it is collected.
      for (const statement of kept.values()) statement.finalize();
      kept.clear();
      database.close();
    },
  };
}

interface FinalStatement extends Statement<unknown> {
  finalize(): void;
}

function wrap(database: Database, sql: string): FinalStatement {
  let compiled: Compiled | undefined;
  const statement = () => {
    compiled ??= database.prepare<unknown, SqlValue[]>(sql);
    return compiled;
  };
  return {
    get: (...values) => statement().get(...values) ?? undefined,
    all: (...values) => statement().all(...values),
    run: (...values) => statement().run(...values).changes,
    insert: (values) => Number((statement() as unknown as TakingList).run(values).lastInsertRowid),
    finalize: () => compiled?.finalize(),
  };
}

type Compiled = ReturnType<typeof Database.prototype.prepare<unknown, SqlValue[]>>;

/** It also takes its values as one list, which its types do not say. */
interface TakingList {
  run(values: readonly SqlValue[]): Changes;
}

/** The engine's name for what went wrong, for example `SQLITE_FULL`; `undefined` if it was not the engine. */
function sqliteCode(error: unknown): string | undefined {
  return error instanceof SQLiteError ? (error.code ?? "SQLITE_ERROR") : undefined;
}

const OUTAGES =
  /^SQLITE_(FULL|IOERR|READONLY|BUSY|LOCKED|CANTOPEN|NOMEM|CORRUPT|NOTADB|PROTOCOL|NOLFS|INTERRUPT)/;

/** The machine's fault, not the statement's: the same call may work later. */
export function isOutage(error: unknown): boolean {
  return OUTAGES.test(sqliteCode(error) ?? "");
}

/** A page of the database is damaged. What does not touch it works. */
export function isDamage(error: unknown): boolean {
  return sqliteCode(error)?.startsWith("SQLITE_CORRUPT") ?? false;
}

/** Another process, or connection, holds the lock. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error)?.startsWith("SQLITE_BUSY") ?? false;
}

export function isConstraint(error: unknown): boolean {
  return sqliteCode(error)?.startsWith("SQLITE_CONSTRAINT") ?? false;
}
