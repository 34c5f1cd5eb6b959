/** Every setting, in one table: what it is called, what it may be, what it is when nobody set it. Stored as text. */

import { isIpRange } from "./ip-range.ts";

export const SETTINGS = {
  idempotency: choice(["replay", "strict"], {
    description: "Same Idempotency-Key, other body: replay the first answer, or refuse with 422.",
  }),
  batch_duplicates: choice(["send", "once"], {
    description: "A number that stands twice in a batch: send twice, or once under one message id.",
  }),
  on_unconfirmed: choice(["resend", "hold"], {
    description: "An attempt whose answer was lost: send again, or hold until a receipt or the window's end.",
  }),
  dlt_variable_max_length: integer(40, {
    min: 1,
    max: 1000,
    description: "Longest value of a template variable to Indian numbers, in characters.",
  }),
  dlt_promotional_hours: hours("10:00-21:00", {
    description:
      "When promotional messages may go to Indian numbers, in Asia/Kolkata; others wait till then.",
  }),
  default_dlt_entity_id: text(/^\d{8,30}$/, {
    expected: "8 to 30 digits",
    description: "DLT entity id used where neither request, template nor sender names one.",
  }),
  keep_bodies: flag(false, {
    description: "Keep message bodies and texts until retention ends, instead of wiping them once sent.",
  }),
  sms_transliterate: flag(false, {
    description:
      "Write typographic quotes, dashes, … and ₹ plainly where nothing else keeps a text out of GSM-7, which costs less.",
  }),
  sms_default_window_seconds: integer(86_400, {
    min: 5,
    max: 86_400,
    description: "Delivery window of an SMS without expire_after_seconds.",
  }),
  email_window_hours: integer(48, {
    min: 1,
    max: 168,
    description: "How long an email that cannot be delivered is tried.",
  }),
  hard_bounce_suppression_days: integer(0, {
    min: 0,
    max: 3_650,
    description: "How long an address that does not exist is not written to again; 0 is for ever.",
  }),
  suppress_after_soft_bounce_days: integer(3, {
    min: 0,
    max: 30,
    description:
      "On how many different days an address bounces for a while (mailbox full) until it is suppressed; 0 is never.",
  }),
  soft_bounce_suppression_days: integer(30, {
    min: 1,
    max: 3_650,
    description: "How long such an address is then not written to.",
  }),
  rate_limit_per_key: integer(0, {
    min: 0,
    max: 1_000_000,
    description: "Requests per second of one API key; 0 is without limit.",
  }),
  rate_limit_per_account: integer(0, {
    min: 0,
    max: 1_000_000,
    description: "Requests per second of one account; 0 is without limit.",
  }),
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
  push_rate_limit: integer(50, {
    min: 0,
    max: 1_000_000,
    description: "Push requests per second of one client address and account; 0 is without limit.",
  }),
  push_rate_burst: integer(500, {
    min: 1,
    max: 1_000_000,
    description: "Push requests one client address and account may make at once.",
  }),
  webhook_allowed_ranges: text(
    { test: (given) => given.split(",").every(isIpRange) },
    {
      expected: "addresses or CIDR ranges separated by commas",
      description:
        "Private or reserved addresses that webhooks may be delivered to all the same; unset: none.",
      scope: "instance",
    },
  ),
  webhook_ca: text(/^\s*-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s-]+-----END CERTIFICATE-----\s*$/, {
    expected: "one or more certificates (PEM)",
    description: "Certificate authorities that webhooks' receivers are trusted by, besides the public ones.",
    scope: "instance",
  }),
  dns_servers: text(/^[0-9A-Fa-f:.[\]]+(,[0-9A-Fa-f:.[\]]+)*$/, {
    expected: "addresses separated by commas, each with or without a port",
    description:
      "Resolvers that domains are verified with and webhooks' hosts looked up; unset: the machine's own.",
    scope: "instance",
  }),
  return_path_host: text(
    /^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)+$/,
    {
      expected: "the name of a host",
      description:
        "Host whose bounce listener domains point their return path at; unset: bounces go to each domain's own mail server.",
      scope: "instance",
    },
  ),
  domain_grace_days: integer(7, {
    min: 1,
    max: 90,
    description: "How long a verified domain whose DNS records are gone may still be sent from.",
    scope: "instance",
  }),
  receipt_overdue_after_minutes: integer(60, {
    min: 1,
    max: 10_080,
    description:
      "How long an SMS may be without a delivery receipt until it is flagged, and its provider asked where that is possible.",
    scope: "instance",
  }),
  public_url: text(/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*[^\s/?#])?$/, {
    expected: "an http:// or https:// URL without a slash at the end",
    description:
      "Where providers reach this service with delivery callbacks; unset: they are asked for none.",
    scope: "instance",
  }),
} as const;

export type SettingName = keyof typeof SETTINGS;
export type SettingValue<Name extends SettingName> = (typeof SETTINGS)[Name]["default"];

export interface Setting<Value> {
  readonly default: Value;
  /** `account`: for one account, or for the instance as the accounts' default. `instance`: only there. */
  readonly scope: "instance" | "account";
  /** What a value may be, in words: `one of replay, strict`. */
  readonly expected: string;
  readonly description: string;
  /** `undefined` if the text is no value of the setting. */
  parse(text: string): Value | undefined;
}

/** The value of a setting among those stored (the account's over the instance's); its default where there is none. */
export function readSetting<Name extends SettingName>(
  stored: Readonly<Record<string, string>>,
  name: Name,
): SettingValue<Name> {
  const setting: Setting<SettingValue<Name>> = SETTINGS[name] as unknown as Setting<SettingValue<Name>>;
  const given = Object.hasOwn(stored, name) ? stored[name] : undefined;
  return given === undefined ? setting.default : (setting.parse(given) ?? setting.default);
}

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}

/** Why this text cannot be set; `undefined` if it can. */
export function settingProblem(
  name: string,
  { value, forAccount }: { value: string; forAccount: boolean },
): string | undefined {
  if (!isSettingName(name)) return `unknown setting: there are ${Object.keys(SETTINGS).join(", ")}`;
  const setting: Setting<unknown> = SETTINGS[name];
  if (forAccount && setting.scope === "instance") return "can only be set for the instance";
  return setting.parse(value) === undefined ? `must be ${setting.expected}` : undefined;
}

interface Description {
  readonly description: string;
  readonly scope?: "instance" | "account";
}

/** The first word is the default. */
function choice<const Word extends string>(
  words: readonly [Word, ...Word[]],
  { description, scope = "account" }: Description,
): Setting<Word> {
  return {
    default: words[0],
    scope,
    description,
    expected: `one of ${words.join(", ")}`,
    parse: (given) => words.find((word) => word === given),
  };
}

function integer(
  byDefault: number,
  { min, max, description, scope = "account" }: Description & { min: number; max: number },
): Setting<number> {
  return {
    default: byDefault,
    scope,
    description,
    expected: `an integer from ${min} to ${max}`,
    parse(given) {
      const value = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
  };
}

function flag(byDefault: boolean, { description, scope = "account" }: Description): Setting<boolean> {
  return {
    default: byDefault,
    scope,
    description,
    expected: "true or false",
    parse: (given) => (given === "true" ? true : given === "false" ? false : undefined),
  };
}

/** Words separated by commas; an empty list is not one. */
function words(byDefault: string, { description, scope = "account" }: Description): Setting<string> {
  const isWord = (word: string) => word.trim() !== "" && word.length <= 40;
  return {
    default: byDefault,
    scope,
    description,
    expected: "words of at most 40 characters, separated by commas",
    parse: (given) => (given.length <= 1_000 && given.split(",").every(isWord) ? given : undefined),
  };
}

/** A part of the day, the end not within. */
function hours(byDefault: string, { description, scope = "account" }: Description): Setting<string> {
  return {
    default: byDefault,
    scope,
    description,
    expected: "two times of a day, the earlier first, for example 10:00-21:00",
    parse(given) {
      const [, opens = "", closes = ""] =
        /^((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d|24:00)$/.exec(given) ?? [];
      return opens < closes ? given : undefined;
    },
  };
}

/** Text without a default. */
function text(
  pattern: Pick<RegExp, "test">,
  { expected, description, scope = "account" }: Description & { expected: string },
): Setting<string | undefined> {
  return {
    default: undefined,
    scope,
    description,
    expected,
    parse: (given) => (pattern.test(given) ? given : undefined),
  };
}
