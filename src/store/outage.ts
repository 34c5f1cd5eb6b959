import { errorText } from "../core/error-text.ts";

/** The database cannot be used (disk full, connection lost, closed). Nothing was stored; the same call may work later. */
export class StoreUnavailable extends Error {
  override readonly name: string = "StoreUnavailable";
}

/**
 * The connection was lost before the commit was answered, and it could not be found out in time whether it was committed. The
 * same call may be repeated: what has an idempotency key, or proves a lease, is not done twice.
 */
export class OutcomeUnknown extends StoreUnavailable {
  override readonly name = "OutcomeUnknown";
}

/** A place in the database is damaged, or a row on it. What does not touch that place works, so this is no outage for anything else. */
export class StoreDamaged extends StoreUnavailable {
  override readonly name = "StoreDamaged";
}

/** One row made the call fail, and now waits for some seconds or minutes. The same call may be made again at once: it passes that row over. */
export class RowPutOff extends Error {
  override readonly name = "RowPutOff";
}

/** Whether the call failed because of the whole database, and not because of what it was about. */
export function isOutage(error: unknown): boolean {
  return error instanceof StoreUnavailable && !(error instanceof StoreDamaged);
}

/** Puts the words of the cause into the message too, since logs and other threads get only the message. */
export function outage(words: string, cause: unknown): StoreUnavailable {
  return new StoreUnavailable(`${words}: ${said(cause)}`, { cause });
}

/** @param cause what the database said of the damage */
export function damage(cause: unknown): StoreDamaged {
  return new StoreDamaged(`the database is damaged: ${errorText(cause)}`, { cause });
}

function said(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(said).join(", ");
  return errorText(cause);
}
