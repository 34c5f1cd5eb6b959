import { DAY_MS } from "./durations.ts";

/** If a peer asks for a longer wait, it gets this one. */
export const LONGEST_RETRY_AFTER_MS = DAY_MS;

/**
 * How many milliseconds a `Retry-After` asks for, 24 hours at most. Its value is seconds, or a date in any of HTTP's three forms
 * (RFC 9110 §10.2.3, §5.6.7). 0 for a date that has passed; `undefined` for any other text.
 */
export function parseRetryAfter(value: string, now: number): number | undefined {
  const text = value.trim();
  if (/^\d{1,12}$/.test(text)) return Math.min(Number(text) * 1_000, LONGEST_RETRY_AFTER_MS);
  const at = parseHttpDate(text, now);
  return at === undefined ? undefined : Math.min(Math.max(0, at - now), LONGEST_RETRY_AFTER_MS);
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** IMF-fixdate, and the obsolete dates of RFC 850 and of asctime. All are GMT. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^[A-Z][a-z]{5,8}, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})$/,
];

function parseHttpDate(text: string, now: number): number | undefined {
  for (const form of HTTP_DATES) {
    const groups = form.exec(text)?.groups;
    if (groups) return toMs(groups, now);
  }
  return undefined;
}

function toMs({ day, month = "", year = "", time = "" }: Record<string, string | undefined>, now: number) {
  const number = MONTHS.indexOf(month);
  if (number < 0) return undefined;
  const [hours = 0, minutes = 0, seconds = 0] = time.split(":").map(Number);
  return Date.UTC(fullYear(year, now), number, Number(day), hours, minutes, seconds);
}

/** A two-digit year more than 50 years ahead is one of the century before (RFC 9110 §5.6.7). */
function fullYear(year: string, now: number): number {
  if (year.length === 4) return Number(year);
  const thisYear = new Date(now).getUTCFullYear();
  const guess = thisYear - (thisYear % 100) + Number(year);
  return guess > thisYear + 50 ? guess - 100 : guess;
}
