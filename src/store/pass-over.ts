import { errorText } from "../core/error-text.ts";
import { isOutage, RowPutOff } from "./outage.ts";

/** How long a row waits that made a call fail; then it is tried again. */
const PUT_OFF_MINUTES = 5;
export const PUT_OFF_MS = PUT_OFF_MINUTES * 60_000;

/** Work on the first rows of a line. */
interface Sweep<Row, Result> {
  /** Works on at most `limit` rows. Calls `take` with these before it does anything that may fail because of one of them. */
  run(limit: number, take: (rows: readonly Row[]) => void): Promise<Result>;
  /** Lets a row wait for `PUT_OFF_MS`, in a transaction of its own. */
  putOff(row: Row): Promise<unknown>;
}

/**
 * Runs a sweep whose transaction may fail because of one row: since that one is damaged, for example. Then it runs again with fewer and
 * fewer, so that one row keeps no other waiting. A row that fails alone is put off, and the call rejects with `RowPutOff`.
 */
export async function passOver<Row extends { readonly message_id: string }, Result>(
  limit: number,
  { run, putOff }: Sweep<Row, Result>,
): Promise<Result> {
  for (let most = limit; ; ) {
    let rows: readonly Row[] = [];
    try {
      return await run(most, (taken) => {
        rows = taken;
      });
    } catch (error) {
      const [first] = rows;
      if (isOutage(error) || !first) throw error;
      if (rows.length === 1) {
        await putOff(first);
        throw new RowPutOff(
          `message ${first.message_id}, put off for ${PUT_OFF_MINUTES} minutes: ${errorText(error)}`,
        );
      }
      most = Math.floor(Math.min(most, rows.length) / 2);
    }
  }
}

/** The rows that are put off by this process alone, where their table has no column for that. */
export interface PutOffRows<Id> {
  /** Those that still wait. */
  ids(now: number): readonly Id[];
  add(id: Id, now: number): void;
}

/** More are hardly damaged at once. Of more than that, the first is tried again early. */
const MAX_PUT_OFF = 1_000;

export function createPutOffRows<Id>(): PutOffRows<Id> {
  const until = new Map<Id, number>();
  return {
    ids(now) {
      // A time that is further away was taken from a clock that has been set back since.
      for (const [id, time] of until) if (time <= now || time > now + PUT_OFF_MS) until.delete(id);
      return [...until.keys()];
    },
    add(id, now) {
      const [first] = until.keys();
      if (until.size >= MAX_PUT_OFF && first !== undefined) until.delete(first);
      until.set(id, now + PUT_OFF_MS);
    },
  };
}
