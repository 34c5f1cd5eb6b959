import { type Clock, sleep } from "../../../core/clock.ts";
import { inTime } from "../../../core/work/in-time.ts";
import { outage } from "../../outage.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../store.ts";
import type { Connection, Driver, Session } from "./driver.ts";
import { LOCKS } from "./lock-numbers.ts";
import { isForbidden, isSchemaGone } from "./sql-errors.ts";

/** Whether a transaction that returned `value` was committed; `undefined` if it cannot be told. Asked once it has ended. */
export type IsStored<T> = (session: Session, value: T) => Promise<boolean | undefined>;

/** A COMMIT that was sent and never answered, or that the server has not confirmed as durable. */
export interface LostCommit {
  /** The server process that was told to commit. */
  readonly backend: number;
  readonly cause: unknown;
}

/** How long to look for the outcome. */
const PATIENCE_MS = 10_000;

const PAUSE_MS = 250;

/** Where a transaction has begun. */
export interface Begun {
  /** The server process, which holds a lock on this number until the transaction ends. */
  readonly backend: number;
  /** Tells servers apart, by the time at which each was started, as it writes it: to convert it here would cost more than to ask. */
  readonly server: string;
}

/** Begins a transaction whose end others can wait for. */
export async function beginAwaitable(connection: Connection): Promise<Begun> {
  const [row] = await (connection.isPipelined
    ? beginAtOnce(connection)
    : connection.exec<Begun>(`${BEGIN}; SELECT ${BEGUN}`));
  return row ?? { backend: 0, server: "" };
}

const BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED";

const BEGUN = `pg_backend_pid() AS backend, pg_postmaster_start_time() AS server,
  pg_advisory_xact_lock(${LOCKS.running}, pg_backend_pid()), pg_advisory_xact_lock_shared(${LOCKS.schema})`;

/**
 * For a packet that holds the first statements too. If somebody cancels what the session does (`pg_cancel_backend`) just when the server is
 * about to begin, there is no transaction, and each of these statements would be committed on its own: an answer saved without its message.
 * So the session ends before them. The check is prepared: each transaction would spend about 40 µs on reading and planning it.
 */
async function beginAtOnce(connection: Connection): Promise<readonly Begun[]> {
  const beginning = connection.exec(`${BEGIN} DEFERRABLE`);
  const [begun] = await Promise.all([
    connection.query<Begun>(`SELECT ${UNLESS_BEGUN_END}, ${BEGUN}`),
    beginning,
  ]);
  return begun;
}

/**
 * `DEFERRABLE` means nothing at this level: it tells a statement that it is in the transaction. An error that is set to end the session ends
 * it: `pg_terminate_backend` takes a right that the role may lack.
 */
const UNLESS_BEGUN_END =
  "CASE current_setting('transaction_deferrable') WHEN 'off' THEN set_config('exit_on_error', 'on', false)::int END";

/**
 * Resolves if the transaction was committed after all. Throws `StoreUnavailable` if it was not, and `OutcomeUnknown` if
 * that could not be found out.
 */
export async function resolveLostCommit(
  { driver, clock }: { readonly driver: Driver; readonly clock: Clock },
  { backend, cause }: LostCommit,
  isStored: ((session: Session) => Promise<boolean | undefined>) | undefined,
): Promise<void> {
  const endMs = clock.monotonicMs() + PATIENCE_MS;
  while (isStored && clock.monotonicMs() < endMs) {
    // The database may be silent, and the time limits of connections are longer.
    const limit = { limitMs: endMs - clock.monotonicMs(), late: (): Found => ({}) };
    const found = await inTime(clock, limit, ask(driver, backend, isStored));
    if (found.isStored === true) return;
    if (found.isStored === false) throw outage("the database did not commit", cause);
    if (found.isFinal) break;
    await sleep(clock, PAUSE_MS);
  }
  throw new OutcomeUnknown("the database did not say whether it committed", { cause });
}

interface Found {
  readonly isStored?: boolean | undefined;
  /** Whether asking again would not help. */
  readonly isFinal?: boolean;
}

/** Asks on another connection, once the transaction has ended: it may still be committing. */
async function ask(
  driver: Driver,
  backend: number,
  isStored: (session: Session) => Promise<boolean | undefined>,
): Promise<Found> {
  try {
    return await driver.hold(async (connection) => {
      await connection.query("SELECT pg_advisory_xact_lock($1::int, $2::int)", [LOCKS.running, backend]);
      const answer = await isStored(connection);
      if (answer && !(await isSafe(connection))) return {};
      return { isStored: answer, isFinal: answer === undefined };
    });
  } catch (error) {
    if (error instanceof StoreUnavailable || isForbidden(error) || isSchemaGone(error)) return {};
    throw error;
  }
}

/** A transaction's commit after this is answered only once a synchronous standby has all that could be seen before. */
export const WAIT_FOR_STANDBY = "SELECT pg_logical_emit_message(true, 'postrider', '')";

/**
 * Whether all that can be seen is as durable as commits have to be. What a transaction stored can be seen before a synchronous
 * standby has it, if its server process was ended, or its server crashed, while it waited for the standby. The standby gets
 * commits in order, so a later one that is confirmed confirms the earlier. It only waits if it writes to the log: it writes
 * a message to nobody.
 */
async function isSafe(connection: Connection): Promise<boolean> {
  await connection.exec(`BEGIN; ${WAIT_FOR_STANDBY}`);
  return (await connection.commit()) === undefined;
}
