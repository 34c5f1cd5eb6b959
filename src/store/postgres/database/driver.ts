/** Runs statements with `pg`, on the connections of `connections.ts`. */
import { type PoolClient, type PoolConfig, type QueryConfig, type QueryResult, types } from "pg";
import { errorText } from "../../../core/error-text.ts";
import { HOUR_MS } from "../../../core/time/durations.ts";
import { damage, outage } from "../../outage.ts";
import { StoreUnavailable } from "../../store.ts";
import { type Connections, NoHost, openConnections } from "../connections/connections.ts";
import { readHosts } from "../connections/hosts.ts";
import { namesOurSetting } from "../connections/session-settings.ts";
import { toArrayText } from "./array-text.ts";
import { NO_TRANSACTION_TIMEOUTS } from "./no-transaction-timeout.ts";
import {
  isConnectionLost,
  isDamage,
  isNameLost,
  isOutage,
  isOutdated,
  isReadOnlyServer,
  isRefusedSetting,
  isUnknownSetting,
  isUnreadableFile,
} from "./sql-errors.ts";
import { createStatementNames, type StatementNames } from "./statement-names.ts";
import { fromStoredText, toStoredText } from "./stored-text.ts";

export type SqlValue = string | number | boolean | null | readonly (string | number | boolean | null)[];

/**
 * Where statements run: in a transaction, or each on its own. Statements are prepared once per connection, unless the URL has
 * `prepare=false`. Texts may hold any character, even U+0000, which is stored escaped: so no SQL may build JSON of texts, as
 * the escapes would stay in it.
 */
export interface Session {
  query<Row = unknown>(sql: string, values?: readonly SqlValue[]): Promise<readonly Row[]>;
}

export interface Driver extends Session {
  /** Lends one connection to `work`, and drops it if it was lost meanwhile, or is left in a transaction. */
  hold<T>(work: (session: Connection) => Promise<T>): Promise<T>;
  /** See `Connections.renew`. */
  renew(): void;
  close(): Promise<void>;
}

/** Statements issued one after the other, without waiting for an answer, go out in one packet if `isPipelined`. */
export interface Connection extends Session {
  /** False for a pooler: there each statement waits for the answer to the one before, and fails with it. */
  readonly isPipelined: boolean;
  /** Runs one or several statements without values; returns the rows of the last one. */
  exec<Row = unknown>(sql: string): Promise<readonly Row[]>;
  /** Commits. Resolves with the server's warning if it gave one: then the commit may be on that server's disk alone. */
  commit(): Promise<unknown>;
  /** The connection broke or fell silent: what became of its last statement is unknown. */
  isLost(): boolean;
}

export interface DriverOptions {
  /** Names one server, or several of which one takes writes; see `readHosts`. */
  readonly url: string;
  /** The most connections. */
  readonly connections?: number;
  /** How long a statement may take, and how long the server keeps a transaction, with its locks, while our process sends nothing. */
  readonly statementMs?: number;
}

/** What a server is told that lacks settings or statements of ours. */
export const OLDEST_NEEDED = "PostgreSQL 15 or later is needed";

/** How many calls may wait for a connection. Further ones are told that the store is busy. */
const MAX_WAITING = 1_000;

/** How many connections a process has for its use cases. */
export const CONNECTIONS = 10;
const CONNECT_MS = 5_000;
const STATEMENT_MS = 10_000;
/** For a statement over all of a long history: an index, a count, a copy. */
export const LONG_STATEMENT_MS = HOUR_MS;
/** How long after the server's own limit we give up on a server that has fallen silent. */
const SILENCE_MS = 5_000;

export function openDriver(options: DriverOptions): Driver {
  const { url, connections = CONNECTIONS, statementMs = STATEMENT_MS } = options;
  const { isPrepared } = readHosts(url);
  const lent = openConnections(url, {
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: statementMs + SILENCE_MS,
    keepAlive: true,
    application_name: "postrider",
    // Statements are sent without waiting for earlier answers; not to a pooler, which may give each to another server process.
    pipeline: isPrepared,
    ...(isPrepared && timeLimits(statementMs)),
    types: { getTypeParser: parserOf },
  });
  const names = isPrepared ? createStatementNames() : undefined;
  const lend = createLend(lent, isPrepared);
  let closing: Promise<void> | undefined;

  const hold = async <T>(work: (connection: Connection) => Promise<T>): Promise<T> => {
    if (closing) throw new StoreUnavailable("the store is closed");
    if (lent.waiting() >= MAX_WAITING) throw new StoreUnavailable("too many calls wait for a connection");
    const client = await lend();
    const state = { isLost: false, isReadOnly: false };
    try {
      return await work(connectionOf(client, names, state));
    } finally {
      if (state.isReadOnly) lent.judgeAgain();
      client.release(state.isLost || state.isReadOnly || isInTransaction(client));
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
    renew: lent.renew,
    close: () => (closing ??= lent.close()),
  };
}

/** As after a ROLLBACK that somebody has cancelled: the next statement would be refused. */
function isInTransaction(client: PoolClient): boolean {
  return client.getTransactionStatus() !== "I";
}

/** Once it has let us in, a server that refuses us (new password, too many connections) counts as unreachable. */
function createLend(lent: Connections, isPrepared: boolean): Connections["lend"] {
  let hasConnected = false;
  const throwFirst = (error: unknown) => throwRefused(error, isPrepared);
  return async () => {
    const client = await lent.lend().catch(hasConnected ? throwUnreachable : throwFirst);
    hasConnected = true;
    return client;
  };
}

/** Not for a pooler, which accepts none of them: there they have to be set for the role. */
function timeLimits(statementMs: number): PoolConfig {
  return {
    statement_timeout: statementMs,
    lock_timeout: statementMs,
    idle_in_transaction_session_timeout: statementMs,
    // A backup is one transaction, and a count of all messages one statement: no limit that is set for short ones may end them.
    ...(statementMs > STATEMENT_MS && { onConnect: (client) => client.query(NO_TRANSACTION_TIMEOUTS) }),
  };
}

interface ConnectionState {
  isLost: boolean;
  /** Whether its server refuses writes. Another connection may lead to a server that takes them. */
  isReadOnly: boolean;
}

/** @param names those of prepared statements; absent: none is prepared */
function connectionOf(
  client: PoolClient,
  names: StatementNames | undefined,
  state: ConnectionState,
): Connection {
  const failed = (error: unknown): never => {
    if (isConnectionLost(error)) state.isLost = true;
    if (isReadOnlyServer(error)) state.isReadOnly = true;
    return throwOutage(error);
  };
  const ask = names ? askAtOnce(client) : askOneByOne(client);
  return {
    isPipelined: names !== undefined,
    async query<Row>(sql: string, values: readonly SqlValue[] = []) {
      const query = { ...(names?.of(sql) ?? { text: sql }), values: values.map(toStored) };
      const result = await ask(query).catch((error) => {
        if (isOutdated(error)) names?.renew(sql);
        if (isNameLost(error)) throw new Error(`${errorText(error)}: ${NOT_PASSED_ON}`, { cause: error });
        return failed(error);
      });
      return result.rows as Row[];
    },
    async exec<Row>(sql: string) {
      const results = [await ask(sql).catch(failed)].flat();
      return (results.at(-1)?.rows ?? []) as Row[];
    },
    async commit() {
      let warning: unknown;
      const note = (notice: { readonly code?: string | undefined }) => {
        if (notice.code?.startsWith(WARNINGS)) warning ??= notice;
      };
      client.on("notice", note);
      await ask("COMMIT")
        .catch(failed)
        .finally(() => client.off("notice", note));
      return warning;
    },
    isLost: () => state.isLost,
  };
}

type Ask = (query: string | QueryConfig) => Promise<QueryResult>;

/** Statements of one turn of the event loop go out in one packet. */
function askAtOnce(client: PoolClient): Ask {
  const { stream } = (client as unknown as WithStream).connection;
  return (query) => {
    stream.cork();
    queueMicrotask(() => stream.uncork());
    return client.query(query);
  };
}

/**
 * Without pipelining `pg` expects each statement to wait for the answer to the one before. Those that wait for one that fails fail with it:
 * if it was to begin their transaction, there is none.
 */
function askOneByOne(client: PoolClient): Ask {
  let last: Promise<unknown> = Promise.resolve();
  return (query) => {
    const answer = last.then(() => client.query(query));
    last = answer;
    answer.catch(() => {
      if (last === answer) last = Promise.resolve();
    });
    return answer;
  };
}

/** Class of the SQLSTATEs of warnings. A COMMIT gets one if its wait for a standby was cancelled. */
const WARNINGS = "01";

/** What the types of `pg` leave out: the stream that a client writes to. */
interface WithStream {
  readonly connection: { readonly stream: { cork(): void; uncork(): void } };
}

const NOT_PASSED_ON =
  "a pooler does not pass on prepared statements, so DATABASE_URL has to end with ?prepare=false";

function toStored(value: SqlValue): string | number | boolean | null {
  if (typeof value === "string") return toStoredText(value);
  if (!isList(value)) return value;
  return toArrayText(value.map((each) => (typeof each === "string" ? toStoredText(each) : each)));
}

function isList(value: SqlValue): value is Extract<SqlValue, readonly unknown[]> {
  return Array.isArray(value);
}

/**
 * By type number: bigint (20), text (25), and timestamp (1184), of which there is only one to be compared. Integers beyond 2^53 do not
 * occur: these are times, and counters from 1.
 */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  20: Number,
  25: fromStoredText,
  1184: String,
};

function parserOf(type: number): (text: string) => unknown {
  return PARSERS[type] ?? types.getTypeParser(type);
}

/** Throws an outage or damage as the store's own error, anything else as it is. */
function throwOutage(error: unknown): never {
  if (isDamage(error)) throw damage(error);
  throw isOutage(error) ? unreachable(error) : error;
}

/**
 * A refusal of a session's settings, by a pooler or an old server, is no outage: they will be refused the next time too. Nor is a file's. Of
 * several hosts the last one decides.
 */
function throwRefused(thrown: unknown, isPrepared: boolean): never {
  const error = thrown instanceof NoHost ? thrown.cause : thrown;
  if (isUnreadableFile(error))
    throw new Error(`${errorText(error)} (named in DATABASE_URL)`, { cause: error });
  if (isUnknownSetting(error) && namesOurSetting(error.message))
    throw new Error(`${errorText(error)}: ${OLDEST_NEEDED}`, { cause: error });
  if (!isRefusedSetting(error)) throw isOutage(error) ? unreachable(thrown) : error;
  const advice = isPrepared
    ? "behind a pooler, DATABASE_URL ends with ?prepare=false"
    : "behind a pooler, it is set for the role (ALTER ROLE … SET), and not in DATABASE_URL";
  throw new Error(`${errorText(error)}: ${advice}`, { cause: error });
}

function throwUnreachable(error: unknown): never {
  throw unreachable(error);
}

function unreachable(cause: unknown): StoreUnavailable {
  return outage("the database cannot be reached", cause);
}
