/** What a caller is told of a limit of its account. */
import type { KeyOwner } from "../core/accept-request.ts";
import { createErrors, type FieldErrors } from "../core/field-errors.ts";
import type { SmsContent } from "../core/message.ts";
import { parsePhoneNumber } from "../core/phone-number.ts";
import { type LimitedRequest, type LimitRefusal, sendingLimits } from "../core/sending-limits.ts";
import { segmentSms } from "../core/sms-segments.ts";
import { renderSms } from "../core/sms-text.ts";
import type { Call } from "./endpoint.ts";
import { overLimit, type Refusal } from "./errors.ts";

/** What the store is to judge the request by, where the account has limits. */
export function limitedRequest(
  { settings }: KeyOwner,
  content: SmsContent,
  now: number,
): LimitedRequest | undefined {
  const limits = sendingLimits(settings);
  if (!limits) return undefined;
  return {
    limits,
    now,
    segments: limits.daily_segment_limit === undefined ? 1 : segmentsOf(content, settings),
  };
}

/** As the text goes out, where it is known here; 1 where the provider makes it. */
function segmentsOf({ text, variables }: SmsContent, settings: KeyOwner["settings"]): number {
  const rendered = text === undefined ? undefined : renderSms(text, { variables: variables ?? {}, settings });
  return rendered && "text" in rendered ? segmentSms(rendered.text).parts.length : 1;
}

/** 429, until the limit counts anew; under `to`, and in a batch `to.N`, which limit it is. */
export function overSendingLimit(refusal: LimitRefusal, { now, body }: Pick<Call, "now" | "body">): Refusal {
  const waitSeconds = Math.max(1, Math.ceil((refusal.until - now) / 1_000));
  return overLimit(waitSeconds, detailsOf(refusal, body?.json.to));
}

function detailsOf(refusal: LimitRefusal, to: unknown): FieldErrors {
  const { recipients } = refusal;
  if (!recipients || !Array.isArray(to)) return { to: limitSentence(refusal) };
  const over = new Set(recipients);
  const errors = createErrors();
  for (const [index, entry] of to.entries()) {
    const number = typeof entry === "string" ? parsePhoneNumber(entry) : undefined;
    if (number === undefined || !over.has(number)) continue;
    errors.addEntry("to", { index, total: to.length, at: `to.${index}`, reason: limitSentence(refusal) });
  }
  errors.summarise("to", (bad, total) => `${bad} of ${total} numbers: ${limitSentence(refusal)}`);
  return errors.list();
}

const WORDS: Readonly<Record<LimitRefusal["limit"], (refusal: LimitRefusal) => string>> = {
  daily_message_limit: (refusal) => ofDay("messages", refusal),
  daily_segment_limit: (refusal) => ofDay("segments", refusal),
  recipient_hourly_limit: ({ allowed }) => `${allowed} messages to one number an hour`,
  recipient_daily_limit: ({ allowed }) => `${allowed} messages to one number a day`,
};

function ofDay(what: string, { allowed, used, asked }: LimitRefusal): string {
  const limit = `${allowed} ${what} a day, ${used} of them taken today`;
  if (!asked || asked.whole <= allowed) return limit;
  // To wait is of no use here.
  if (asked.each > allowed)
    return `${limit}; each message of this request takes ${asked.each}, more than a whole day has`;
  return `${limit}; this request takes ${asked.whole}, more than a whole day has, and has to be split`;
}

/** Which limit it is, in words. */
export function limitSentence(refusal: LimitRefusal): string {
  return `the account is limited to ${WORDS[refusal.limit](refusal)} (${refusal.limit})`;
}
