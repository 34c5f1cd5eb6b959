import { errorText } from "../core/error-text.ts";
import { HOUR_MS } from "../core/time/durations.ts";
import { uuidTime } from "../core/uuid.ts";
import { isOutage, RowPutOff, StoreDamaged } from "./outage.ts";

/**
 * A row that made a call fail waits for as long again as its message is old, but at least and at most so long; then it is tried again. So a
 * fault that passes costs a new message seconds, and one that lasts a few tries.
 */
const SHORTEST_MS = 5_000;
const LONGEST_MS = 5 * 60_000;

/** How long a row waits that is of no message: nobody waits for what is done with it. */
const OTHERS_MS = HOUR_MS;

/** How long rows wait whose page cannot be read. */
export const UNREADABLE_MS = HOUR_MS;

/** The most jobs that are put off together: as many as a batch has. */
export const MAX_TOGETHER = 1_000;

type PutOffRow =
  | { readonly message_id: string }
  | { /** For the log. Nobody's address or number. */ readonly name: string };

/** Work on the first rows of a line. */
interface Sweep<Row, Result> {
  /** The most rows to work on. */
  readonly limit: number;
  readonly now: number;
  /** Works on at most `limit` rows. Calls `take` with these before it does anything that may fail because of one of them. */
  run(limit: number, take: (rows: readonly Row[]) => void): Promise<Result>;
  /**
   * Lets a row wait until then, in a transaction of its own, and with it those that fail for the same reason. A number that it resolves
   * with says how many.
   */
  putOff(row: Row, dueAt: number): Promise<unknown>;
  /**
   * Passes over the next rows if their page is damaged, so that not even one can be read. Resolves with what the log calls them; `undefined`:
   * there are none. Absent: where they cannot be passed over.
   */
  passUnreadable?(): Promise<string | undefined>;
}

/**
 * Runs a sweep whose transaction may fail because of one row: since that one is damaged, for example. Then it runs again with fewer and
 * fewer, so that one row keeps no other waiting. A row that fails alone is put off, and the call rejects with `RowPutOff`.
 */
export async function passOver<Row extends PutOffRow, Result>({
  limit,
  now,
  run,
  putOff,
  passUnreadable,
}: Sweep<Row, Result>): Promise<Result> {
  for (let most = limit; ; ) {
    let rows: readonly Row[] = [];
    try {
      return await run(most, (taken) => {
        rows = taken;
      });
    } catch (error) {
      const [first] = rows;
      if (isOutage(error)) throw error;
      if (!first) {
        most = await fewerOrPass(error, most, passUnreadable);
        continue;
      }
      if (rows.length === 1) {
        const ms = waitMs(first, now);
        const count = await putOff(first, now + ms);
        const others = typeof count === "number" && count > 1 ? ` and ${count - 1} others of its batch` : "";
        const seconds = Math.ceil(ms / 1_000);
        throw new RowPutOff(`${nameOf(first)}${others}, put off for ${seconds} s: ${errorText(error)}`);
      }
      most = Math.floor(Math.min(most, rows.length) / 2);
    }
  }
}

/** Of a sweep that failed before it had taken a row: resolves with how many to try next. If one is too many, passes over it and throws. */
async function fewerOrPass(
  error: unknown,
  most: number,
  pass: (() => Promise<string | undefined>) | undefined,
): Promise<number> {
  if (!pass || !(error instanceof StoreDamaged)) throw error;
  if (most > 1) return Math.floor(most / 2);
  const name = await pass();
  if (name === undefined) throw error;
  throw new RowPutOff(`${name}, put off for ${UNREADABLE_MS / 1_000} s: ${errorText(error)}`);
}

function nameOf(row: PutOffRow): string {
  return "message_id" in row ? `message ${row.message_id}` : row.name;
}

function waitMs(row: PutOffRow, now: number): number {
  if (!("message_id" in row)) return OTHERS_MS;
  return Math.min(Math.max(now - (uuidTime(row.message_id) ?? 0), SHORTEST_MS), LONGEST_MS);
}

/** How many calls that fail one after another, each because of another row, are made again without a pause. */
const MAX_PASSED_OVER = 20;

/**
 * Makes a function that tells of a call that has failed whether to make it again at once, since others wait behind a row that was put
 * off. Not without end: all rows may be at fault. Then it is time for a pause, and it counts anew.
 */
export function createPassing(): (error: unknown) => boolean {
  let passedOver = 0;
  return (error) => {
    passedOver = error instanceof RowPutOff ? (passedOver + 1) % MAX_PASSED_OVER : 0;
    return passedOver > 0;
  };
}

/** The rows that are put off by this process alone, where their table has no column for that. */
export interface PutOffRows<Id> {
  /** Those that still wait. */
  ids(now: number): readonly Id[];
  add(id: Id, dueAt: number): void;
}

/** More are hardly damaged at once. Of more than that, the first is tried again early. */
const MAX_PUT_OFF = 1_000;

export function createPutOffRows<Id>(): PutOffRows<Id> {
  const until = new Map<Id, number>();
  return {
    ids(now) {
      // A time that is further away was taken from a clock that has been set back since.
      for (const [id, time] of until) if (time <= now || time > now + OTHERS_MS) until.delete(id);
      return [...until.keys()];
    },
    add(id, dueAt) {
      const [first] = until.keys();
      if (until.size >= MAX_PUT_OFF && first !== undefined) until.delete(first);
      until.set(id, dueAt);
    },
  };
}

/** Upkeep of old rows, in one transaction. */
interface OldRowWork<Id> {
  readonly limit: number;
  readonly now: number;
  /**
   * Works on at most `limit` rows, and on none that waits. Calls `take` with their ids before it does anything that may fail because of one
   * of them.
   */
  run(limit: number, waiting: ReadonlySet<Id>, take: (ids: readonly Id[]) => void): Promise<number>;
  /** See `Sweep`. */
  passUnreadable?(waiting: ReadonlySet<Id>): Promise<string | undefined>;
}

/**
 * Makes a function that does upkeep of a table's old rows, and passes over those that make it fail: each waits for an hour, as far as this
 * process knows. Returns at least 1 if it had to work on fewer rows than it was asked to, so that it is called again; not if there were none
 * to work on, which would be so again.
 *
 * @param nameOf what the log calls a row: nobody's address or number
 */
export function createOldRowUpkeep<Id>(
  nameOf: (id: Id) => string,
): (work: OldRowWork<Id>) => Promise<number> {
  const putOff = createPutOffRows<Id>();
  return ({ limit, now, run, passUnreadable }) =>
    passOver({
      limit,
      now,
      ...(passUnreadable && { passUnreadable: () => passUnreadable(new Set(putOff.ids(now))) }),
      async run(most, take: (rows: readonly { readonly id: Id; readonly name: string }[]) => void) {
        const waiting = new Set(putOff.ids(now));
        let hasTaken = false;
        const count = await run(most, waiting, (ids) => {
          hasTaken = ids.length > 0;
          take(ids.map((id) => ({ id, name: nameOf(id) })));
        });
        return most < limit && hasTaken ? Math.max(1, count) : count;
      },
      putOff: async ({ id }, dueAt) => putOff.add(id, dueAt),
    });
}
