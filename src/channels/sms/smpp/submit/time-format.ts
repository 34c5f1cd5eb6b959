/** The longest validity period to ask for. SMSCs cap it anyway, most of them far below this. */
const MAX_SECONDS = 30 * 86_400;

/**
 * A span as SMPP's relative time `YYMMDDhhmmss000R` (SMPP 3.4 §7.1.1), with seconds carried into minutes, hours and days. It is
 * rounded down to a second, but is at least 1 s and at most 30 days.
 */
export function toRelativeTime(spanMs: number): string {
  const seconds = Math.min(MAX_SECONDS, Math.max(1, Math.floor(spanMs / 1000)));
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor(seconds / 3600) % 24;
  const minutes = Math.floor(seconds / 60) % 60;
  return `0000${[days, hours, minutes, seconds % 60].map(twoDigits).join("")}000R`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
