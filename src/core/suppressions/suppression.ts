/** Why an account no longer sends email to an address, and for how long. */
import { readSetting, type StoredSettings } from "../records/settings.ts";
import { DAY_MS } from "../time/durations.ts";

export const SUPPRESSION_REASONS = [
  "hard_bounce",
  "soft_bounce",
  "complaint",
  "unsubscribe",
  "manual",
] as const;

export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

export function isSuppressionReason(word: string): word is SuppressionReason {
  return SUPPRESSION_REASONS.some((each) => each === word);
}

/** Soft bounces further apart than this have nothing to do with each other. */
const SOFT_MEMORY_DAYS = 30;

/** On how many different days an address has bounced softly, and the last of them (days since 1970, UTC). */
export interface SoftBounces {
  readonly days: number;
  readonly lastDay: number;
}

/** One more soft bounce. Several on one day count once. */
export function countSoftBounce(before: SoftBounces | undefined, at: number): SoftBounces {
  const day = Math.floor(at / DAY_MS);
  if (!before || day - before.lastDay > SOFT_MEMORY_DAYS) return { days: 1, lastDay: day };
  return day > before.lastDay ? { days: before.days + 1, lastDay: day } : before;
}

/** The first day whose soft bounces are still remembered at `now`. */
export function firstSoftDay(now: number): number {
  return Math.floor(now / DAY_MS) - SOFT_MEMORY_DAYS;
}

export function isSoftLimit(count: SoftBounces, settings: StoredSettings): boolean {
  const limit = readSetting(settings, "suppress_after_soft_bounce_days");
  return limit > 0 && count.days >= limit;
}

/** When the suppression ends by itself, Unix milliseconds; `undefined`: never. */
export function suppressedUntil(
  reason: SuppressionReason,
  at: number,
  settings: StoredSettings,
): number | undefined {
  const days = daysOf(reason, settings);
  return days === 0 ? undefined : at + days * DAY_MS;
}

/** How many days a suppression lasts. 0 is for ever, which holds for all reasons but bounces, and for those if the settings say so. */
function daysOf(reason: SuppressionReason, settings: StoredSettings): number {
  if (reason === "hard_bounce") return readSetting(settings, "hard_bounce_suppression_days");
  if (reason === "soft_bounce") return readSetting(settings, "soft_bounce_suppression_days");
  return 0;
}
