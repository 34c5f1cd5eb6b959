/** All settings in one table, with their permitted values and their defaults. They are stored as text. */
import { ALARM_SETTINGS } from "../alarms/alarm-settings.ts";
import { unknownName } from "../body/unknown-name.ts";
import { INBOUND_SETTINGS } from "../inbound/inbound-settings.ts";
import { certificatesIn } from "../network/certificates.ts";
import { isIpRange, isNameServer } from "../network/ip-range.ts";
import { choice, flag, hours, integer, type Setting, text } from "./setting-kinds.ts";

export type { Setting } from "./setting-kinds.ts";

export const SETTINGS = {
  idempotency: choice(["replay", "strict"], {
    description:
      "Same Idempotency-Key with a different body, compared byte for byte: replay the first answer, or refuse with 422.",
  }),
  batch_duplicates: choice(["send", "once"], {
    description: "A number that is twice in a batch: send two messages, or one message with one id.",
  }),
  on_unconfirmed: choice(["resend", "hold"], {
    description:
      "An attempt whose answer was lost: send again, or hold until a receipt or a late answer arrives, or the delivery window ends.",
  }),
  dlt_variable_max_length: integer(40, {
    min: 1,
    max: 1000,
    description: "Longest value of a template variable in SMS to Indian numbers, in characters.",
  }),
  dlt_promotional_hours: hours("10:00-21:00", {
    description:
      "Hours in Asia/Kolkata when promotional messages to Indian numbers may be sent; at other times they wait.",
  }),
  default_dlt_entity_id: text(/^\d{8,30}$/, {
    expected: "8 to 30 digits",
    description: "DLT entity id used if request, template and sender name none.",
  }),
  keep_bodies: flag(false, {
    description:
      "Keep message bodies and texts until retention ends, instead of wiping them once no attempt can need them.",
  }),
  sms_transliterate: flag(false, {
    description:
      "Replace typographic quotes, dashes, … and ₹ with plain characters, and letters with separate accents with the usual ones, if the text then fits GSM-7, which costs less. To Indian numbers only in the values of variables.",
  }),
  sms_default_window_seconds: integer(86_400, {
    min: 5,
    max: 86_400,
    description: "Delivery window of an SMS without expire_after_seconds.",
  }),
  email_window_hours: integer(48, {
    min: 1,
    max: 168,
    description: "Delivery window of an email: how long delivery is retried.",
  }),
  hard_bounce_suppression_days: integer(0, {
    min: 0,
    max: 3_650,
    description: "How long an address stays suppressed after a hard bounce; 0: forever.",
  }),
  suppress_after_soft_bounce_days: integer(3, {
    min: 0,
    max: 30,
    description:
      "Number of different days with soft bounces (mailbox full) after which an address is suppressed; 0: never.",
  }),
  soft_bounce_suppression_days: integer(30, {
    min: 1,
    max: 3_650,
    description: "How long an address stays suppressed after soft bounces.",
  }),
  rate_limit_per_key: integer(0, {
    min: 0,
    max: 1_000_000,
    description: "Requests per second of one API key; 0: no limit.",
  }),
  rate_limit_per_account: integer(0, {
    min: 0,
    max: 1_000_000,
    description: "Requests per second of one account; 0: no limit.",
  }),
  ...INBOUND_SETTINGS,
  ...ALARM_SETTINGS,
  push_rate_limit: integer(50, {
    min: 0,
    max: 1_000_000,
    description: "Push requests per second from one client address for one account; 0: no limit.",
  }),
  push_rate_burst: integer(500, {
    min: 1,
    max: 1_000_000,
    description: "Burst of push requests from one client address for one account.",
  }),
  webhook_allowed_ranges: text(
    { test: (given) => given.split(",").every(isIpRange) },
    {
      expected: "addresses or CIDR ranges separated by commas",
      description: "Private or reserved addresses to which webhooks may be delivered; unset: none.",
      scope: "instance",
    },
  ),
  webhook_ca: text(
    { test: (given) => certificatesIn(given).length > 0 },
    {
      expected: "one or more certificates (PEM)",
      description: "Certificate authorities trusted for webhook receivers, in addition to the public ones.",
      scope: "instance",
    },
  ),
  dns_servers: text(
    { test: (given) => given.split(",").every(isNameServer) },
    {
      expected: "addresses separated by commas, each with or without a port",
      description:
        "DNS servers used to verify domains and to look up webhook hosts and, for connectors of kind mx, mail hosts; unset: the machine's own.",
      scope: "instance",
    },
  ),
  return_path_host: text(
    /^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)+$/,
    {
      expected: "the name of a host",
      description:
        "Host of the bounce listener, the target of each domain's return path; unset: bounces go to each domain's own mail server.",
      scope: "instance",
    },
  ),
  domain_grace_days: integer(7, {
    min: 1,
    max: 90,
    description: "How long a verified domain may still send after its DNS records disappear.",
    scope: "instance",
  }),
  receipt_overdue_after_minutes: integer(60, {
    min: 1,
    max: 10_080,
    description:
      "Time after which a missing delivery receipt is flagged as overdue, and queried if the connector can.",
    scope: "instance",
  }),
  public_url: text(/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*[^\s/?#])?$/, {
    expected: "an http:// or https:// URL without a slash at the end",
    description:
      "Public URL of this service, for delivery callbacks, unsubscribe links, and clients generated from `/openapi.json`; unset: no callbacks are requested.",
    scope: "instance",
  }),
} as const;

export type SettingName = keyof typeof SETTINGS;
export type SettingValue<Name extends SettingName> = (typeof SETTINGS)[Name]["default"];

/** The settings that have been set, as text: those of an account over those of the instance. All others have their defaults. */
export type StoredSettings = Readonly<Record<string, string>>;

/** The value of a setting: the stored one, or the default if none is stored or if the stored text is no longer permitted. */
export function readSetting<Name extends SettingName>(
  stored: StoredSettings,
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
  if (!isSettingName(name)) return unknownName(name, Object.keys(SETTINGS));
  const setting: Setting<unknown> = SETTINGS[name];
  if (forAccount && setting.scope === "instance") return "can only be set for the instance";
  return setting.parse(value) === undefined ? `must be ${setting.expected}` : undefined;
}
