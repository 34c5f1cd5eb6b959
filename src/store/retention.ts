/**
 * What is deleted once it has been kept long enough. Each method changes about `limit` rows at most and returns how many it
 * did; callers repeat until 0.
 */
export interface Retention {
  /** Makes the tables that messages of this and the next days need (PostgreSQL), so that no accept has to wait for it. Always 0. */
  prepareDays(now: number): Promise<number>;
  /** Wipes bodies of batches whose jobs are all gone (single messages are wiped as they settle). */
  wipeContents(limit: number): Promise<number>;
  /**
   * Deletes final messages created before `before`, and any created before `atLatest`, with everything that belongs to
   * them. PostgreSQL goes by whole days (UTC): a day's messages go once all of it is that old, its contents a day later.
   */
  pruneMessages(bounds: { before: number; atLatest: number; limit: number }): Promise<number>;
  /** Deletes keys, with the answers saved under them, that have expired. */
  pruneIdempotencyKeys(now: number, limit: number): Promise<number>;
  /** Deletes suppressions that have ended, and soft bounces too old to count. */
  pruneSuppressions(now: number, limit: number): Promise<number>;
  /** Deletes parked receipts, sandbox and inbound messages with their events, and usage counts, from before `before`. */
  pruneReceived(before: number, limit: number): Promise<number>;
}
