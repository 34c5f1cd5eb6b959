/** Statements by way of `pg`; its connections are those of `connections.ts`. */
import { DatabaseError, type PoolClient, type PoolConfig, types } from "pg";
import { StoreUnavailable } from "../../store.ts";
import { openConnections } from "../connections/connections.ts";
import { readHosts } from "../connections/hosts.ts";
import { toArrayText } from "./array-text.ts";
import { fromStoredText, toStoredText } from "./stored-text.ts";

export type SqlValue = string | number | boolean | null | readonly (string | number | boolean | null)[];

/**
 * Where statements run: in a transaction, or each on its own. Statements are prepared once per connection. A text may
 * hold any character, also U+0000; so SQL is not to build JSON of texts, which would be read back with it.
 */
export interface Session {
  query<Row = unknown>(sql: string, values?: readonly SqlValue[]): Promise<readonly Row[]>;
}

export interface Driver extends Session {
  /** Lends one connection to `work`; it is given up where it was lost. */
  hold<T>(work: (session: Connection) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface Connection extends Session {
  /** One or several statements without values; the rows of the last. */
  exec<Row = unknown>(sql: string): Promise<readonly Row[]>;
  /** The statements that `send` sends, without waiting for one another's answers, go out in one piece. */
  together<T>(send: () => T): T;
  /** It broke, or said nothing more: nobody knows what became of the last statement. */
  isLost(): boolean;
}

export interface DriverOptions {
  /** Of one server, or of several of which one takes writes; see `readHosts`. */
  readonly url: string;
  /** Connections at the most. */
  readonly connections?: number;
  /** For tests: how long a statement may take, in milliseconds. */
  readonly statementMs?: number;
}

/** Calls that may wait for a connection; beyond it the store says that it is busy. */
const MAX_WAITING = 1_000;

/** Of a process, for its use cases. */
export const CONNECTIONS = 10;
const CONNECT_MS = 5_000;
const STATEMENT_MS = 10_000;
/** Our own end of the wait, for a server that no longer says anything. */
const SILENCE_MS = 5_000;

/**
 * Every statement knows its rows by an index. The planner cannot know how large today's tables have become since it
 * last looked, and takes an empty table's word for it; so it is told, and a day that grows costs no more per row. Nor
 * does it know that of all days one is looked into: a row of an index is to seem dear, so that it rather asks for each
 * id than to go through the indexes of every day once.
 */
const PLANNING =
  "-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off -c cpu_index_tuple_cost=10";

export function openDriver({
  url,
  connections = CONNECTIONS,
  statementMs = STATEMENT_MS,
}: DriverOptions): Driver {
  const { isPrepared } = readHosts(url);
  const lent = openConnections(url, {
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: statementMs + SILENCE_MS,
    keepAlive: true,
    application_name: "postrider",
    // Statements are sent as they come, also while one is not answered. A pooler may give each another server process.
    pipeline: isPrepared,
    ...(isPrepared && sessionSettings(statementMs)),
    types: { getTypeParser: parserOf },
  });
  const names = isPrepared ? createNames() : undefined;
  let closing: Promise<void> | undefined;
  let hasTaken = false;
  /** A server that has taken us and refuses us now (a new password, no room, closed) is away, and says so to the log. */
  const lend = async (): Promise<PoolClient> => {
    const client = await lent.lend().catch(hasTaken ? throwAway : throwOutage);
    hasTaken = true;
    return client;
  };

  const hold = async <T>(work: (connection: Connection) => Promise<T>): Promise<T> => {
    if (closing) throw new StoreUnavailable("the store is closed");
    if (lent.waiting() >= MAX_WAITING) throw new StoreUnavailable("too many calls wait for a connection");
    const client = await lend();
    const lost = { is: false };
    try {
      return await work(connectionOf(client, names, lost));
    } finally {
      client.release(lost.is);
    }
  };
  const query = <Row>(sql: string, values?: readonly SqlValue[]) =>
    hold((connection) => connection.query<Row>(sql, values));
  return {
    hold,
    query: <Row>(sql: string, values?: readonly SqlValue[]) =>
      query<Row>(sql, values).catch((error) => {
        if (!isOutdated(error)) throw error;
        return query<Row>(sql, values);
      }),
    close: () => (closing ??= lent.close()),
  };
}

/** A pooler takes none of them; then they belong to the role. */
function sessionSettings(statementMs: number): PoolConfig {
  return {
    statement_timeout: statementMs,
    lock_timeout: statementMs,
    idle_in_transaction_session_timeout: statementMs,
    options: PLANNING,
  };
}

/** @param names of statements that are prepared; absent: none is */
function connectionOf(client: PoolClient, names: Names | undefined, lost: { is: boolean }): Connection {
  const failed = (error: unknown): never => {
    if (isLost(error)) lost.is = true;
    return throwOutage(error);
  };
  return {
    async query<Row>(sql: string, values: readonly SqlValue[] = []) {
      const query = { ...(names && { name: names.of(sql) }), text: sql, values: values.map(toStored) };
      const result = await client.query(query).catch((error) => {
        if (isOutdated(error)) names?.forget(sql);
        return failed(error);
      });
      return result.rows as Row[];
    },
    async exec<Row>(sql: string) {
      const results = [await client.query(sql).catch(failed)].flat();
      return (results.at(-1)?.rows ?? []) as Row[];
    },
    together(send) {
      const { stream } = (client as unknown as WithStream).connection;
      stream.cork();
      try {
        return send();
      } finally {
        stream.uncork();
      }
    },
    isLost: () => lost.is,
  };
}

/** What `pg` does not tell of its clients: where they write. */
interface WithStream {
  readonly connection: { readonly stream: { cork(): void; uncork(): void } };
}

interface Names {
  of(sql: string): string;
  /** It is to be prepared again, under another name, on every connection. */
  forget(sql: string): void;
}

/** The same text has the same name on all connections. */
function createNames(): Names {
  const names = new Map<string, string>();
  let count = 0;
  return {
    of(sql) {
      const name = names.get(sql) ?? `s${count++}`;
      names.set(sql, name);
      return name;
    },
    forget: (sql) => void names.delete(sql),
  };
}

function toStored(value: SqlValue): string | number | boolean | null {
  if (typeof value === "string") return toStoredText(value);
  if (!isList(value)) return value;
  return toArrayText(value.map((each) => (typeof each === "string" ? toStoredText(each) : each)));
}

function isList(value: SqlValue): value is Extract<SqlValue, readonly unknown[]> {
  return Array.isArray(value);
}

/** By the number of the type. Integers beyond 2^53 do not occur: times, and counters that start at 1. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = { 20: Number, 25: fromStoredText };

function parserOf(type: number): (text: string) => unknown {
  return PARSERS[type] ?? types.getTypeParser(type);
}

/** An outage in the store's words; anything else as it is. */
function throwOutage(error: unknown): never {
  throw isOutage(error) ? away(error) : error;
}

function throwAway(error: unknown): never {
  throw away(error);
}

function away(cause: unknown): StoreUnavailable {
  return new StoreUnavailable("the database cannot be reached", { cause });
}

/**
 * Classes of SQLSTATE that are not the statement's fault: connection (08), resources (53), operator and time-outs (57),
 * system (58); and the lock that was not had in time, and the server that only reads since another took over.
 */
const OUTAGES = /^(08|53|57|58)|^(55P03|25006|25P03)$/;

/** What `pg` says by itself is about the connection, unless it is about our values. */
function isOutage(error: unknown): boolean {
  if (error instanceof DatabaseError) return OUTAGES.test(error.code ?? "");
  return !(error instanceof TypeError || error instanceof RangeError);
}

/** The connection itself is gone or in doubt. */
function isLost(error: unknown): boolean {
  return !(error instanceof DatabaseError) || /^(08|25P03|57P)/.test(error.code ?? "");
}

/** Two transactions stood in each other's way, or a migration in one's; the same again may well pass. */
export function isCollision(error: unknown): boolean {
  if (isOutdated(error)) return true;
  return error instanceof DatabaseError && (error.code === "40001" || error.code === "40P01");
}

/** What was prepared answers with other columns now that another version has migrated. */
function isOutdated(error: unknown): boolean {
  return (
    error instanceof DatabaseError && error.code === "0A000" && error.routine === "RevalidateCachedQuery"
  );
}

/** A lock was not had in time. */
export function isLockTimeout(error: unknown): boolean {
  const cause = error instanceof StoreUnavailable ? error.cause : error;
  return cause instanceof DatabaseError && cause.code === "55P03";
}

/** The columns of the unique key that is taken; `undefined`: something else is wrong. */
export function takenColumns(error: unknown): readonly string[] | undefined {
  if (!(error instanceof DatabaseError) || error.code !== "23505") return undefined;
  return /\(([^()=]+)\)=\(/.exec(error.detail ?? "")?.[1]?.split(", ") ?? [];
}

/** A row that others refer to, or that refers to one that is not there. */
export function isForeignKey(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "23503";
}

/** A row for which no table of its day is there. */
export function isOutOfRange(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "23514";
}
