/** Sensible values for fields, by their names. */
import type { Chance } from "./chance.ts";
import type { Hint } from "./values.ts";
import type { Caller, World } from "./world.ts";

interface Known extends Pick<World, "callers" | "idOf"> {
  readonly caller: Caller;
  readonly operation: string;
  readonly appId: string;
}

const NUMBERS = ["+919876543210", "+919812345678", "9876543210", "+14155550123", "+447700900123"];

/** Times shortly after the held clock's, which is the beginning of 2026-01-15. */
const LATER = ["2026-01-15T12:30:00Z", "2026-01-18T12:00:00.000Z", "2026-01-16T05:30:00+05:30"];

export function createHints({ caller, operation, callers, idOf, appId }: Known): Hint {
  const isEmail = /email/i.test(operation);
  const hints: Readonly<Record<string, (chance: Chance) => unknown>> = {
    account_id: (chance) => (chance.is(80) ? caller.accountId : chance.pick(callers).accountId),
    app_id: () => appId,
    template_id: (chance) => idOf("/admin/v1/sms-templates", chance),
    dlt_template_id: () => "1107161234567890123",
    dlt_entity_id: () => "1101172974420810001",
    from: (chance) => FROM[operation]?.(chance),
    to: (chance) => (isEmail ? undefined : TO[operation]?.(chance)),
    number: (chance) => chance.pick(["56161", "+14155550199"]) + chance.below(1_000),
    recipient: (chance) => chance.pick([...NUMBERS, "asha@example.org"]),
    callback_url: () => "https://hooks.invalid/x",
    url: () => "https://127.0.0.1:9/x",
    schedule_at: (chance) => chance.pick(LATER),
    expires_at: (chance) => chance.pick(LATER),
    email: (chance) => `asha${chance.below(50)}@example.org`,
    reply_to: () => "help@example.org",
    attachments: () => [],
    body_text: (chance) => (chance.is(90) ? "It is on its way." : undefined),
    headers: (chance) => (chance.is(70) ? { "X-Order": `A-${chance.below(100)}` } : undefined),
    device_id: (chance) => `device-${chance.below(30)}`,
    contact_id: (chance) => idOf("/admin/v1/contacts", chance),
    external_id: (chance) => `user-${chance.below(40)}`,
    message_id: (chance) => idOf(isEmail ? "/v1/emails/messages" : "/v1/sms/messages", chance),
    "linked_dlt_template_ids[]": () => "1107161234567890123",
    "linked_headers[]": () => "ACMECO",
    platforms: (chance) => chance.pick([["apns"], ["fcm", "web"]]),
    connector_id: (chance) => idOf("/admin/v1/connectors", chance),
    connector_ids: (chance) => [idOf("/admin/v1/connectors", chance)],
    connectors: (chance) => [
      { connector_id: idOf("/admin/v1/connectors", chance), weight: 1 + chance.below(9) },
    ],
    channel: () => (operation === "createRoute" ? "sms" : undefined),
    sender: () => (/Route$|OptOut/.test(operation) ? "ACMECO" : undefined),
    match: (chance) => chance.pick(["91", "1415", String(chance.below(1_000) + 1)]),
    domain: (chance) => `d${chance.below(100_000)}.example`,
    body: (chance) => chance.pick(["Code {#var#}.", "Hello {#alphanumeric#}, see {#url#}", "plain"]),
    is_enabled: () => false,
    csv: (chance) => chance.pick(CSVS),
    entity_id: (chance) => String(1_101_172_974_420_810_000 + chance.below(1_000) * 1_024),
    "callback_numbers[]": () => "1800 123 456",
    host: () => "hooks.invalid",
    cursor: (chance) => idOf("/v1/sms/messages", chance),
  };
  return (name, chance) => (Object.hasOwn(hints, name) ? hints[name]?.(chance) : undefined);
}

const number = (chance: Chance) => chance.pick(NUMBERS);
const sender = (chance: Chance) => (chance.is(50) ? "ACMECO" : undefined);

/** By operation, since `from` and `to` mean different things. */
const FROM: Readonly<Record<string, (chance: Chance) => unknown>> = {
  sendSms: sender,
  sendSmsAlias: sender,
  createSmsTemplate: sender,
  receiveInSandbox: number,
  listInboundSms: number,
  listInboundMessages: number,
};

const recipients = (chance: Chance) =>
  chance.is(70) ? number(chance) : Array.from({ length: 1 + chance.below(4) }, () => number(chance));

const TO: Readonly<Record<string, (chance: Chance) => unknown>> = {
  sendSms: recipients,
  sendSmsAlias: recipients,
  receiveInSandbox: () => "56161",
  listSms: number,
  listInboundSms: () => "56161",
  listInboundMessages: () => "56161",
};

const CSVS = [
  "Template ID,Template Name,Template Content\n1107161234567890124,otp,Code {#var#}.\n",
  "Header,Type\nACMECO,Service\n",
  "nonsense",
];
