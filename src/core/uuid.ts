import type { Clock } from "./clock.ts";

/** Unpredictable octets, like `crypto.randomBytes`. */
export type RandomBytes = (count: number) => Uint8Array;

/**
 * A clock that is set back by more than this was wrong before. If ids went on from its wrong time, they would be wrong for just as
 * long, and retention and receipts rely on the time in ids.
 */
const LONGEST_STEP_BACK_MS = 10_000;

/**
 * Makes UUIDv7 (RFC 9562 §5.7, §6.2 method 1) that ascend within one process, as text and as octets: 48 bits of Unix milliseconds,
 * a 26-bit counter, and 48 random bits. Each millisecond the counter starts at random in its lower half. If the clock stands still
 * or steps back a little, the time of the last id is kept and the counter goes on; when the counter is used up, the time of the
 * ids advances by a millisecond. Ids only go back if the clock is set back by more than 10 s.
 */
export function createIds(clock: Pick<Clock, "now">, randomBytes: RandomBytes): () => string {
  const random = pooled(randomBytes);
  let timeMs = -1;
  /** Everything before the last 8 bits of the counter, which changes only every 256 ids: `017f22e2-79b0-7cc3-98`. */
  let head = "";
  let counter = COUNTER_END;

  const turnTo = (ms: number) => {
    timeMs = ms;
    counter = Number.parseInt(random(), 16) & COUNTER_START;
    head = headOf(ms, counter);
  };
  const countOn = () => {
    counter++;
    if ((counter & 0xff) === 0) head = headOf(timeMs, counter);
  };

  return () => {
    const now = clock.now();
    if (now > timeMs || now < timeMs - LONGEST_STEP_BACK_MS) turnTo(now);
    else if (counter >= COUNTER_END) turnTo(timeMs + 1);
    else countOn();
    // In three pieces, since the engine joins up to three in one step.
    return head + LAST_OCTET[counter & 0xff] + random();
  };
}

/** Unix milliseconds of a UUIDv7; `undefined` for any other text. */
export function uuidTime(id: string): number | undefined {
  return UUID_V7.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;
}

/** Whether a text is a UUID, of any version and in either case. */
export function isUuid(text: string): boolean {
  return text.length === 36 && UUID.test(text);
}

/** An id as it is stored, however its letters were given: some platforms write UUIDs in capitals. Other text stays as it is. */
export function toStoredId(text: string): string {
  return isUuid(text) ? text.toLowerCase() : text;
}

/** The lowest UUIDv7 of a millisecond. An id was made in [a, b) if it is >= `firstUuidAt(a)` and < `firstUuidAt(b)`. */
export function firstUuidAt(ms: number): string {
  return `${timePrefix(Math.max(0, Math.trunc(ms)))}-7000-8000-000000000000`;
}

/** Above every UUIDv7. */
export const LAST_UUID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const COUNTER_END = 2 ** 26 - 1;
/** The highest value at which the counter starts: the end of its lower half. */
const COUNTER_START = 2 ** 25 - 1;
/** The last 8 bits of the counter in hexadecimal, and the dash that follows. */
const LAST_OCTET = Array.from({ length: 256 }, (_, octet) => `${octet.toString(16).padStart(2, "0")}-`);

function timePrefix(ms: number): string {
  const hex = ms.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

function headOf(ms: number, counter: number): string {
  const high = (0x7000 | (counter >> 14)).toString(16);
  const middle = (0x80 | ((counter >> 8) & 0x3f)).toString(16);
  return `${timePrefix(ms)}-${high}-${middle}`;
}

const POOL_OCTETS = 6 * 512;
const DRAWN_DIGITS = 12;

/** Makes a function that returns 48 random bits in hexadecimal. It fetches random octets in bulk, since only that is cheap. */
function pooled(randomBytes: RandomBytes): () => string {
  let pool = "";
  let next = 0;
  return () => {
    if (next >= pool.length) {
      pool = randomBytes(POOL_OCTETS).toHex();
      next = 0;
    }
    next += DRAWN_DIGITS;
    return pool.slice(next - DRAWN_DIGITS, next);
  };
}
