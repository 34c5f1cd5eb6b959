import type { Session } from "./driver.ts";
import type { LOCKS } from "./lock-numbers.ts";

/** Takes a lock until the transaction ends, if it is free; false, without waiting, if another transaction has it. */
export async function tryLock(session: Session, lock: (typeof LOCKS)[keyof typeof LOCKS]): Promise<boolean> {
  const [row] = await session.query<{ is_ours: boolean }>(
    `SELECT pg_try_advisory_xact_lock(${lock}) AS is_ours`,
  );
  return row?.is_ours === true;
}
