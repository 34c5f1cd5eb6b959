/** When promotional messages may be sent to Indian numbers: in the daytime there (TCCCPR 2018; operators answer 651). */
import type { Content } from "../messages/message.ts";
import type { AccountMode } from "../records/accounts.ts";
import { readSetting, type StoredSettings } from "../records/settings.ts";
import { DAY_MS, MINUTE_MS } from "../time/durations.ts";
import { isIndian } from "./phone-number.ts";

export interface Promotion {
  readonly accountMode: AccountMode;
  /** Settings of the account over those of the instance. */
  readonly settings: StoredSettings;
  readonly content: Content;
}

/**
 * The earliest time from `at` on at which the message may be sent to this number, in Unix milliseconds. That is `at`, unless a live
 * account sends a promotional message to an Indian number outside the permitted hours.
 */
export function earliestSendAt(promotion: Promotion, recipient: string, at: number): number {
  const { accountMode, settings, content } = promotion;
  if (content.channel !== "sms" || content.category !== "promotional") return at;
  if (accountMode !== "live" || !isIndian(recipient)) return at;
  return nextOpening(readSetting(settings, "dlt_promotional_hours"), at);
}

/** Details for the timeline: how long a message waits, and why. */
export function deferralDetail({ settings }: Pick<Promotion, "settings">, until: number) {
  const hours = readSetting(settings, "dlt_promotional_hours");
  return {
    deferred_until: new Date(until).toISOString(),
    reason: `promotional messages go to Indian numbers at ${hours} Asia/Kolkata`,
  };
}

/** The next time within the hours, from `at` on. `hours`: as in the setting, `10:00-21:00`, the end excluded. */
export function nextOpening(hours: string, at: number): number {
  const [opensMs = 0, closesMs = DAY_MS] = hours.split("-").map(toMs);
  const midnight = Math.floor((at + KOLKATA_MS) / DAY_MS) * DAY_MS - KOLKATA_MS;
  const ofDay = at - midnight;
  if (ofDay < opensMs) return midnight + opensMs;
  return ofDay < closesMs ? at : midnight + DAY_MS + opensMs;
}

/** Asia/Kolkata is 5 h 30 min ahead of UTC all year. */
const KOLKATA_MS = 330 * MINUTE_MS;

function toMs(time: string): number {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  return (hours * 60 + minutes) * MINUTE_MS;
}
