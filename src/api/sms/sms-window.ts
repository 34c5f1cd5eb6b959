import type { KeyOwner } from "../../core/records/api-key.ts";
import { readSetting } from "../../core/records/settings.ts";
import type { SendSms } from "../../core/sms/send-sms.ts";

/** When a message expires, in Unix milliseconds. Its window begins when it is due. */
export function windowEnd(
  { scheduleAt, expireAfterMs }: SendSms,
  { settings }: KeyOwner,
  now: number,
): number {
  const windowMs = expireAfterMs ?? readSetting(settings, "sms_default_window_seconds") * 1000;
  return (scheduleAt ?? now) + windowMs;
}
