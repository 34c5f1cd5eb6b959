/** Every setting, in one table: what it is called, what it may be, what it is when nobody set it. Stored as text. */

import { ALARM_SETTINGS } from "../alarms/alarm-settings.ts";
import { certificatesIn } from "../certificates.ts";
import { INBOUND_SETTINGS } from "../inbound/inbound-settings.ts";
import { isIpRange, isNameServer } from "../ip-range.ts";
import { choice, flag, hours, integer, type Setting, text } from "./setting-kinds.ts";

export type { Setting } from "./setting-kinds.ts";

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
  ...INBOUND_SETTINGS,
  ...ALARM_SETTINGS,
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
  webhook_ca: text(
    { test: (given) => certificatesIn(given).length > 0 },
    {
      expected: "one or more certificates (PEM)",
      description:
        "Certificate authorities that webhooks' receivers are trusted by, besides the public ones.",
      scope: "instance",
    },
  ),
  dns_servers: text(
    { test: (given) => given.split(",").every(isNameServer) },
    {
      expected: "addresses separated by commas, each with or without a port",
      description:
        "Resolvers that domains are verified with and webhooks' hosts looked up; unset: the machine's own.",
      scope: "instance",
    },
  ),
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
