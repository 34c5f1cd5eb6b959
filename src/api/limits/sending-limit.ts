/** An account's sending limits: what the store needs to apply them, and how a refusal names the limit. */
import { createErrors, type FieldErrors, type Summary } from "../../core/body/field-errors.ts";
import type { SmsContent } from "../../core/messages/message.ts";
import {
  type DailyRefusal,
  hasDailyLimit,
  type LimitedRequest,
  type LimitRefusal,
  type RecipientRefusal,
  sendingLimits,
} from "../../core/messages/sending-limits.ts";
import type { KeyOwner } from "../../core/records/api-key.ts";
import { parsePhoneNumber } from "../../core/sms/phone-number.ts";
import { segmentSms } from "../../core/sms/sms-segments.ts";
import { renderSms, type SmsToRender } from "../../core/sms/sms-text.ts";
import type { Call } from "../endpoint.ts";
import { type Refusal, tooManyRequests } from "../errors.ts";

/** What the store judges the request by; `undefined` if the account has no limits. */
export function limitedRequest(
  { settings }: KeyOwner,
  { content, to }: { readonly content: SmsContent; readonly to: readonly string[] },
  now: number,
): LimitedRequest | undefined {
  const limits = sendingLimits(settings);
  if (!limits) return undefined;
  // Also where only messages have a limit a day: segments may get one while the day goes on.
  const segments = hasDailyLimit({ limits }) ? segmentsOf(content, { settings, to }) : 1;
  return { limits, now, segments };
}

/** Segments of one message; 1 if the text is not known here, because the provider renders it. */
function segmentsOf(
  { text, variables = {} }: SmsContent,
  asSent: Pick<SmsToRender, "settings" | "to">,
): number {
  const rendered = text === undefined ? undefined : renderSms(text, { variables, ...asSent });
  return rendered && "text" in rendered ? segmentSms(rendered.text).parts.length : 1;
}

type Tally = ReadonlyMap<string, number>;

/** A 429 until the limit's period ends; its `details` name the limit. */
export function overSendingLimit(
  refusal: LimitRefusal,
  tally: Tally,
  { now, body }: Pick<Call, "now" | "body">,
): Refusal {
  const waitSeconds = Math.max(1, Math.ceil((refusal.until - now) / 1_000));
  return tooManyRequests(waitSeconds, detailsOf(refusal, tally, body?.json.to));
}

/** Under `to`, and for each number of a batch that is at its limit under `to.N`. */
function detailsOf(refusal: LimitRefusal, tally: Tally, to: unknown): FieldErrors {
  if (!("recipients" in refusal) || !Array.isArray(to)) return { to: limitSentence(refusal) };
  const { recipients, allowed } = refusal;
  const atLimit = new Set(recipients);
  const errors = createErrors();
  const most = Math.max(...recipients.map((recipient) => tally.get(recipient) ?? 0));
  const tooMany: Summary = (bad, total) => `${bad} of ${total} numbers: ${limitSentence(refusal, most)}`;
  for (const [index, entry] of to.entries()) {
    const number = typeof entry === "string" ? parsePhoneNumber(entry) : undefined;
    if (number === undefined || !atLimit.has(number)) continue;
    const asked = tally.get(number) ?? 0;
    errors.addEntry("to", {
      index,
      total: to.length,
      at: `to.${index}`,
      reason: limitSentence(refusal, asked),
      ...(asked > allowed && { summary: tooMany }),
    });
  }
  errors.summarise("to", (bad, total) => `${bad} of ${total} numbers: ${limitSentence(refusal)}`);
  return errors.list();
}

/** Names the limit in a sentence. `toOne`: how many messages of the request go to the number that is at its limit. */
export function limitSentence(refusal: LimitRefusal, toOne = 0): string {
  const limit = "recipients" in refusal ? ofNumber(refusal, toOne) : ofDay(refusal);
  return `the account is limited to ${limit} (${refusal.limit})`;
}

function ofNumber({ limit: name, allowed }: RecipientRefusal, toOne: number): string {
  const period = name === "recipient_hourly_limit" ? "hour" : "day";
  const limit = `${counted(allowed, "message")} to one number ${period === "hour" ? "an" : "a"} ${period}`;
  if (toOne <= allowed) return limit;
  return `${limit}; this request has ${toOne} to one, more than a whole ${period} has, and has to be split`;
}

function ofDay({ limit: name, allowed, used, asked }: DailyRefusal): string {
  const what = name === "daily_message_limit" ? "message" : "segment";
  const limit = `${counted(allowed, what)} a day, ${used} of them taken today`;
  if (asked.whole <= allowed) return limit;
  // Waiting would not help: even an unused day has less.
  if (asked.each > allowed)
    return `${limit}; each message of this request takes ${asked.each}, more than a whole day has`;
  return `${limit}; this request takes ${asked.whole}, more than a whole day has, and has to be split`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
