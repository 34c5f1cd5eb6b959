/**
 * Reads an ISO 8601 time: an existing date, `T`, hours to seconds with 0 to 9 decimals, and `Z` or `±hh:mm`. Returns Unix
 * milliseconds (further decimals are cut off), or `undefined`. The runtime's own parser will not do: it reads 30 February as a day
 * in March, and a time without offset as local time.
 */
export function parseTimestamp(text: string): number | undefined {
  const match = text.length <= MAX_LENGTH ? ISO_8601.exec(text) : null;
  if (!match) return undefined;
  const [, date, time, fraction = "", sign, hours, minutes] = match;
  const milliseconds = fraction.slice(0, 3).padEnd(3, "0");
  const written = `${date}T${time}.${milliseconds}Z`;
  const atUtc = Date.parse(written);
  if (Number.isNaN(atUtc) || toIso(atUtc) !== written) return undefined;
  const offsetMs = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
  return sign === "-" ? atUtc + offsetMs : atUtc - offsetMs;
}

/** What is wrong with a text that `parseTimestamp` cannot read. Most often the time zone is missing. */
export const NOT_A_TIMESTAMP =
  "must be an ISO 8601 timestamp with Z or an offset, for example 2026-01-15T12:00:00Z";

/** `2026-01-15T12:00:00.000Z`, as every answer shows times. */
export function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

const MAX_LENGTH = "2026-01-15T12:00:00.123456789+05:30".length;
/** Offsets end at ±23:59 (RFC 3339). `T` and `Z` may be small letters (RFC 3339 §5.6). */
const ISO_8601 =
  /^(\d{4}-\d\d-\d\d)[Tt]([01]\d:[0-5]\d:[0-5]\d|2[0-3]:[0-5]\d:[0-5]\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;
