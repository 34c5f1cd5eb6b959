/** Settings about what handsets write, and about guards against numbers being pumped for the fees of their operators. */
import { choice, integer, text, webhookUrl, words } from "../records/setting-kinds.ts";

export const INBOUND_SETTINGS = {
  inbound_url: webhookUrl({
    description:
      "URL that receives a webhook for each inbound SMS of the account (sms.received); unset: none is sent.",
  }),
  stop_words: words("STOP,STOPALL,UNSUBSCRIBE,CANCEL,END,QUIT,REVOKE,OPTOUT", {
    description:
      "An inbound SMS that is one of these words, whatever its case and punctuation, opts its sender out.",
  }),
  start_words: words("START,UNSTOP", {
    description: "An inbound SMS that is one of these words ends the opt-out.",
  }),
  opt_out_scope: choice(["sender", "account", "off"], {
    description:
      "What a stop word stops: messages from the number it was sent to, all messages of the account, or nothing.",
  }),
  allowed_destinations: text(/^\+?[1-9]\d{0,14}( *, *\+?[1-9]\d{0,14})*$/, {
    expected: "beginnings of numbers, country code first, separated by commas, for example 91,4420",
    description: "An SMS may only go to numbers that begin with one of these; unset: to any number.",
  }),
  daily_message_limit: integer(0, {
    min: 0,
    max: 999_999_999,
    description: "SMS an account may send in one day (UTC); 0: no limit.",
  }),
  daily_segment_limit: integer(0, {
    min: 0,
    max: 999_999_999,
    description: "SMS segments an account may send in one day (UTC); 0: no limit.",
  }),
  recipient_hourly_limit: integer(0, {
    min: 0,
    max: 1_000_000,
    description: "SMS an account may send to one number in one clock hour (UTC); 0: no limit.",
  }),
  recipient_daily_limit: integer(0, {
    min: 0,
    max: 1_000_000,
    description: "SMS an account may send to one number in one day (UTC); 0: no limit.",
  }),
} as const;
