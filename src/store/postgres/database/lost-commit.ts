import { type Clock, sleep } from "../../../core/clock.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../store.ts";
import type { Connection, Driver, Session } from "./driver.ts";
import { LOCKS } from "./lock-numbers.ts";

/** Whether a transaction that came to `value` happened; `undefined`: that cannot be told. Asked after it is over. */
export type IsStored<T> = (session: Session, value: T) => Promise<boolean | undefined>;

/** A COMMIT that was sent and not answered. */
export interface LostCommit {
  /** The server process that was told to commit. */
  readonly backend: number;
  readonly cause: unknown;
}

/** How long the truth is looked for. */
const PATIENCE_MS = 10_000;

const PAUSE_MS = 250;

/** Begins a transaction which others can wait for: the number to wait with. */
export async function beginKnown(connection: Connection): Promise<number> {
  const [row] = await connection.exec<{ backend: number }>(
    `BEGIN; SELECT pg_backend_pid() AS backend, pg_advisory_xact_lock(${LOCKS.running}, pg_backend_pid()),
       pg_advisory_xact_lock_shared(${LOCKS.schema})`,
  );
  return row?.backend ?? 0;
}

/**
 * Resolves where the transaction has happened after all. Throws `StoreUnavailable` where it has not, and
 * `OutcomeUnknown` where that was not to be found out.
 */
export async function findOut(
  { driver, clock }: { readonly driver: Driver; readonly clock: Clock },
  { backend, cause }: LostCommit,
  isStored: ((session: Session) => Promise<boolean | undefined>) | undefined,
): Promise<void> {
  const endMs = clock.monotonicMs() + PATIENCE_MS;
  while (isStored && clock.monotonicMs() < endMs) {
    const found = await within(clock, endMs - clock.monotonicMs(), ask(driver, backend, isStored));
    if (found.isStored === true) return;
    if (found.isStored === false) throw new StoreUnavailable("the database did not commit", { cause });
    if (found.isVain) break;
    await sleep(clock, PAUSE_MS, NEVER);
  }
  throw new OutcomeUnknown("the database did not say whether it committed", { cause });
}

const NEVER = new AbortController().signal;

/** A database that says nothing keeps nobody beyond the time: the connections have longer limits of their own. */
async function within(clock: Clock, ms: number, asked: Promise<Found>): Promise<Found> {
  const over = Promise.withResolvers<Found>();
  const cancel = clock.after(ms, () => over.resolve({}));
  return await Promise.race([asked, over.promise]).finally(cancel);
}

interface Found {
  readonly isStored?: boolean | undefined;
  /** Asking again will not help. */
  readonly isVain?: boolean;
}

/** On another connection. The one that was lost may still be committing, and is waited for. */
async function ask(
  driver: Driver,
  backend: number,
  isStored: (session: Session) => Promise<boolean | undefined>,
): Promise<Found> {
  try {
    return await driver.hold(async (connection) => {
      await connection.query("SELECT pg_advisory_xact_lock($1::int, $2::int)", [LOCKS.running, backend]);
      const answer = await isStored(connection);
      return { isStored: answer, isVain: answer === undefined };
    });
  } catch (error) {
    if (error instanceof StoreUnavailable) return {};
    throw error;
  }
}
