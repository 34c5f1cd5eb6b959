/**
 * Deletes what has been kept for long enough, and prepares the tables that days are kept in. All pass over rows that cannot be deleted,
 * on SQLite also over those that cannot be read, and reject with `RowPutOff` for each, or for all of a damaged page.
 */
export interface Retention {
  /** PostgreSQL: creates the tables for messages of today and the next days, so that no accept has to wait for that. Always 0. */
  prepareDays(now: number): Promise<number>;
  /** Wipes the bodies of batches that have no jobs left. (The body of a single message is wiped when it is settled.) */
  wipeContents(now: number, limit: number): Promise<number>;
  /**
   * Deletes messages created before `before` that are final and whose webhooks have come to their end, and all created before
   * `atLatest`, with everything that belongs to them. If `quietSince` is given, those whose timeline has an entry from then on
   * stay, and those with a webhook that was tried then and has failed: it may have just been told what became of one, or not.
   * PostgreSQL deletes whole days (UTC): a day's messages once the entire day is that old, their contents a day later.
   */
  pruneMessages(bounds: {
    before: number;
    atLatest: number;
    quietSince?: number;
    limit: number;
  }): Promise<number>;
  /** Deletes expired idempotency keys, with the answers saved under them. */
  pruneIdempotencyKeys(now: number, limit: number): Promise<number>;
  /** Deletes suppressions that have ended, and soft bounces that are too old to count. */
  pruneSuppressions(now: number, limit: number): Promise<number>;
  /** Deletes what is older than `before`: parked receipts, sandbox messages, and usage counts. */
  pruneReceived(before: number, limit: number): Promise<number>;
  /** Deletes inbound messages, with their events and webhooks, by the same bounds as `pruneMessages`. They are always final. */
  pruneInbound(bounds: { before: number; atLatest: number; limit: number }): Promise<number>;
}
