/** What a caller is told of a limit of its account. */
import { createErrors, type FieldErrors } from "../core/field-errors.ts";
import { parsePhoneNumber } from "../core/phone-number.ts";
import type { LimitRefusal } from "../core/sending-limits.ts";
import type { Call } from "./endpoint.ts";
import { overLimit, type Refusal } from "./errors.ts";

/** 429, until the limit counts anew; under `to`, and in a batch `to.N`, which limit it is. */
export function overSendingLimit(refusal: LimitRefusal, { now, body }: Pick<Call, "now" | "body">): Refusal {
  const waitSeconds = Math.max(1, Math.ceil((refusal.until - now) / 1_000));
  return overLimit(waitSeconds, detailsOf(refusal, body?.json.to));
}

function detailsOf(refusal: LimitRefusal, to: unknown): FieldErrors {
  const { recipients } = refusal;
  if (!recipients || !Array.isArray(to)) return { to: sentence(refusal) };
  const over = new Set(recipients);
  const errors = createErrors();
  for (const [index, entry] of to.entries()) {
    const number = typeof entry === "string" ? parsePhoneNumber(entry) : undefined;
    if (number === undefined || !over.has(number)) continue;
    errors.addEntry("to", { index, total: to.length, at: `to.${index}`, reason: sentence(refusal) });
  }
  errors.summarise("to", (bad, total) => `${bad} of ${total} numbers: ${sentence(refusal)}`);
  return errors.list();
}

const WORDS: Readonly<Record<LimitRefusal["limit"], (refusal: LimitRefusal) => string>> = {
  daily_message_limit: ({ allowed, used }) => `${allowed} messages a day, ${used} of them taken today`,
  daily_segment_limit: ({ allowed, used }) => `${allowed} segments a day, ${used} of them taken today`,
  recipient_hourly_limit: ({ allowed }) => `${allowed} messages to one number an hour`,
  recipient_daily_limit: ({ allowed }) => `${allowed} messages to one number a day`,
};

function sentence(refusal: LimitRefusal): string {
  return `the account is limited to ${WORDS[refusal.limit](refusal)} (${refusal.limit})`;
}
