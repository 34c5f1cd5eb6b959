import type { Clock } from "../../../core/clock.ts";
import { outage } from "../../outage.ts";
import { StoreUnavailable } from "../../store.ts";
import type { Connection, Driver, Session, SqlValue } from "./driver.ts";
import {
  type Begun,
  beginAwaitable,
  type IsStored,
  type LostCommit,
  resolveLostCommit,
} from "./lost-commit.ts";
import { createServerWatch, OtherServer, type ServerWatch } from "./server-watch.ts";
import { isCollision, isForbidden, isSchemaGone } from "./sql-errors.ts";

/** The statements of a transaction. */
export interface Transaction extends Session {
  /**
   * Runs a statement whose rows nobody needs. It goes out in one packet with the next `query`, or with the COMMIT, and so takes
   * no round trip of its own. If it fails, that `query` or commit rejects with its error.
   */
  run(sql: string, values?: readonly SqlValue[]): void;
}

/** What every use case is built on: single statements and transactions. */
export interface Database extends Session {
  /**
   * Runs `work` in a transaction, and resolves when that is durable. After a deadlock, a migration meanwhile, or on another server than
   * before, it runs again, so it must leave no trace outside the database, and recall within `work` what it remembers of it. `work` asks
   * nobody else for a connection.
   *
   * @param isStored asked if the commit is not answered: whether the transaction that returned `value` was committed
   * @throws OutcomeUnknown if the commit was not answered and it cannot be found out
   */
  transaction<T>(work: Work<T>, isStored?: IsStored<T>): Promise<T>;
  /**
   * The same with the work that `prepare` returns, for what may have to be made or learnt by other calls first. `prepare` runs each time
   * before the work, while no connection is held: if all held one and waited for another, none would ever get it.
   */
  prepared<T>(prepare: () => Promise<Work<T>>, isStored?: IsStored<T>): Promise<T>;
  /** See `ServerWatch.onOther`. */
  onOtherServer(forget: () => void): void;
}

/** A database that can be closed: calls admitted before end first, later ones are rejected. */
export interface ClosableDatabase {
  /** Admits each call by itself. */
  readonly database: Database;
  /** Admits work of several calls on `within`, which it may finish while the database is being closed. */
  admit<T>(start: () => Promise<T>): Promise<T>;
  /** For calls of admitted work. */
  readonly within: Database;
  /** Admits no more; resolves when all that was admitted has ended. */
  close(): Promise<void>;
}

const MAX_TRIES = 5;

/** @param servers shared by all drivers of a process, so that what one notices is known to the others */
export function openClosable(driver: Driver, clock: Clock, servers = createServerWatch()): ClosableDatabase {
  // Others may still lead to the former server, where what is written is lost.
  servers.onOther(driver.renew);
  const underWay = new Set<Promise<unknown>>();
  let isClosed = false;
  const within: Database = {
    query: (sql, values) => driver.query<never>(sql, values).catch(throwRefused),
    transaction: (work, isStored) => within.prepared(async () => work, isStored),
    async prepared(prepare, isStored) {
      const { value, lost } = await runWithRetries({ driver, servers }, prepare).catch(throwRefused);
      if (lost)
        await resolveLostCommit({ driver, clock }, lost, isStored && ((session) => isStored(session, value)));
      return value;
    },
    onOtherServer: servers.onOther,
  };
  const admit = <T>(start: () => Promise<T>): Promise<T> => {
    if (isClosed) return Promise.reject(new StoreUnavailable("the store is closed"));
    const task = start();
    const ended = task.catch(() => undefined).then(() => void underWay.delete(ended));
    underWay.add(ended);
    return task;
  };
  return {
    within,
    admit,
    database: {
      query: (sql, values) => admit(() => within.query(sql, values)),
      transaction: (work, isStored) => admit(() => within.transaction(work, isStored)),
      prepared: (prepare, isStored) => admit(() => within.prepared(prepare, isStored)),
      onOtherServer: servers.onOther,
    },
    async close() {
      isClosed = true;
      while (underWay.size > 0) await Promise.all(underWay);
      await driver.close();
    },
  };
}

/** Rights and tables that are missing count as an outage: they will be back, and what a provider said must be kept until then. */
function throwRefused(error: unknown): never {
  throw isForbidden(error) || isSchemaGone(error) ? outage("the database refuses", error) : error;
}

interface Ran<T> {
  readonly value: T;
  /** Present if the commit was not answered, or not confirmed as durable. */
  readonly lost?: LostCommit;
}

export type Work<T> = (session: Transaction) => Promise<T>;

interface Place {
  readonly driver: Driver;
  readonly servers: ServerWatch;
}

async function runWithRetries<T>(
  { driver, servers }: Place,
  prepare: () => Promise<Work<T>>,
): Promise<Ran<T>> {
  for (let tries = 1; ; tries++) {
    const judge = servers.begin();
    try {
      const work = await prepare();
      return await driver.hold((connection) => runOnce(connection, judge, work));
    } catch (error) {
      if (!isCollision(error) && !(error instanceof OtherServer)) throw error;
      if (tries === MAX_TRIES)
        throw new StoreUnavailable("other transactions stood in the way", { cause: error });
    }
  }
}

async function runOnce<T>(
  connection: Connection,
  judge: (server: string) => void,
  work: Work<T>,
): Promise<Ran<T>> {
  const { transaction, beginning, commit } = openStatements(connection);
  try {
    const value = await work(transaction);
    const begun = await beginning();
    if (begun === undefined) return { value };
    judge(begun.server);
    const cause = await commit();
    return cause === undefined ? { value } : { value, lost: { backend: begun.backend, cause } };
  } catch (error) {
    // On a lost connection the server rolls back by itself, and a ROLLBACK would wait again for a server that has fallen silent.
    if (!connection.isLost()) await connection.exec("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

interface Statements {
  readonly transaction: Transaction;
  /** Where the transaction runs; `undefined` if there was no statement, and so no transaction. */
  beginning(): Promise<Begun | undefined>;
  /** Commits. Resolves with why it may not be durable, if so: the connection was lost before the answer, or it came with a warning. */
  commit(): Promise<unknown>;
}

type Send = () => Promise<unknown>;

/** Statements wait until one is sent whose answer is needed. The first that waits is BEGIN. */
function openStatements(connection: Connection): Statements {
  let begun: Promise<Begun> | undefined;
  let waiting: readonly Send[] = [() => (begun = beginAwaitable(connection))];
  let underWay: readonly Promise<unknown>[] = [];

  const send = async <T>(last: () => Promise<T>): Promise<T> => {
    const before = waiting.map((each) => each());
    waiting = [];
    const result = last();
    const these = [...underWay, ...before, result];
    underWay = these;
    // After a statement that fails all others fail too, so the first error is the one that says why.
    const failed = (await Promise.allSettled(these)).find(isRejected);
    if (underWay === these) underWay = [];
    if (!failed) return result;
    throw failed.reason;
  };
  return {
    transaction: {
      query: (sql, values) => send(() => connection.query(sql, values)),
      run(sql, values) {
        waiting = [...waiting, () => connection.query(sql, values)];
      },
    },
    async beginning() {
      // Before the COMMIT: if that is not answered, the number is needed to find out what became of it.
      if (!begun && waiting.length > 1) await send(async () => undefined);
      return begun;
    },
    commit: () =>
      send(connection.commit).catch((error) => {
        if (connection.isLost()) return error ?? "lost";
        throw error;
      }),
  };
}

function isRejected(result: PromiseSettledResult<unknown>): result is PromiseRejectedResult {
  return result.status === "rejected";
}
