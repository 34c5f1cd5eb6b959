/** Settings about what handsets write, and about guards against numbers being pumped for the fees of their operators. */
import { choice, integer, text, words } from "../records/setting-kinds.ts";

export const INBOUND_SETTINGS = {
  inbound_url: text(/^https:\/\/[^\s]+$/, {
    expected: "an https:// URL",
    description: "Where the account is told of SMS that handsets write to it (sms.received); unset: nowhere.",
  }),
  stop_words: words("STOP,STOPALL,UNSUBSCRIBE,CANCEL,END,QUIT", {
    description: "A message that is one of these words, in any case, ends messages to its sender.",
  }),
  start_words: words("START,UNSTOP", {
    description: "A message that is one of these words lets messages to its sender through again.",
  }),
  opt_out_scope: choice(["sender", "account", "off"], {
    description:
      "What a stop word ends: messages from the number it was written to, all of the account, or nothing.",
  }),
  allowed_destinations: text(/^\+?[1-9]\d{0,14}( *, *\+?[1-9]\d{0,14})*$/, {
    expected: "beginnings of numbers, country code first, separated by commas, for example 91,4420",
    description: "Numbers an SMS may go to begin with one of these; unset: any number.",
  }),
  daily_message_limit: integer(0, {
    min: 0,
    max: 999_999_999,
    description: "SMS an account may send on one day (UTC); 0 is without limit.",
  }),
  daily_segment_limit: integer(0, {
    min: 0,
    max: 999_999_999,
    description: "Segments of SMS an account may send on one day (UTC); 0 is without limit.",
  }),
  recipient_hourly_limit: integer(0, {
    min: 0,
    max: 1_000_000,
    description: "SMS an account may send to one number in one hour of the clock; 0 is without limit.",
  }),
  recipient_daily_limit: integer(0, {
    min: 0,
    max: 1_000_000,
    description: "SMS an account may send to one number on one day (UTC); 0 is without limit.",
  }),
} as const;
