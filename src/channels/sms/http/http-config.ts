import Type, { type Static } from "typebox";
import type { Connector } from "../../../core/records/accounts.ts";
import type { CertificateFields } from "../../certificate-advice.ts";
import { MAX_PER_SECOND } from "../../channel.ts";
import { milliseconds, OWN_DLT_CODES, RECEIPTS_WITH } from "../config-fields.ts";
import { readConfig } from "../read-config.ts";
import { gatewaySchema } from "./gateway.ts";
import { PROVIDER_NAMES } from "./provider-names.ts";

const setting = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 255, description }));

const SIGNATURE_METHODS = ["md5hash", "md5", "sha1", "sha256", "sha512"] as const;

/** `Connector.config` of kind `http`, as the admin API shows it. */
export const httpConfigSchema = Type.Object({
  provider: Type.Enum(PROVIDER_NAMES, {
    type: "string",
    description: "The gateway; `custom` is described in `gateway`",
  }),
  base_url: Type.Optional(
    Type.String({
      maxLength: 255,
      pattern: "^https?://[^\\s/?#@{}]+(/[^\\s?#{}]*[^\\s/?#{}])?$",
      examples: ["https://gateway.example:8443/path"],
      description: "infobip, kannel: URL of the API; others: overrides the public URL",
    }),
  ),
  sender: setting("Sender of messages without one"),
  account_sid: setting("twilio: Account SID"),
  messaging_service_sid: setting("twilio: Messaging Service that chooses the sender"),
  auth_id: setting("plivo: Auth ID"),
  userid: setting("gupshup: account number"),
  username: setting("kannel: name of the sendsms-user"),
  smsc: setting("kannel: send through this smsc-id"),
  template_ids: Type.Optional(
    Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: 255 }), {
      description: "msg91: maps a DLT template id or a Postrider template id to MSG91's",
    }),
  ),
  variable_prefix: Type.Optional(
    Type.String({
      maxLength: 32,
      default: "VAR",
      description: "msg91: prefix of variable names: variable 1 is VAR1",
    }),
  ),
  signature_method: Type.Optional(
    Type.Enum(SIGNATURE_METHODS, {
      type: "string",
      description: "vonage: how callbacks are signed; the secret is signature_secret",
    }),
  ),
  callback_username: setting("infobip: user name of callbacks; the secret is callback_password"),
  max_in_flight: Type.Integer({
    default: 20,
    minimum: 1,
    maximum: 1000,
    description: "Unanswered requests allowed",
  }),
  connect_timeout_ms: milliseconds(
    10_000,
    { minimum: 100, maximum: 60_000 },
    "For name lookup, connection and TLS",
  ),
  response_timeout_ms: milliseconds(
    30_000,
    { minimum: 100, maximum: 300_000 },
    "Limit for a request and its answer",
  ),
  tls_verify: Type.Boolean({ default: true, description: "false: accept any certificate" }),
  tls_ca: Type.Optional(
    Type.String({
      maxLength: 65_536,
      description: "PEM of the certificate authority, if it is not a public one",
    }),
  ),
  max_per_second: MAX_PER_SECOND,
  dlt_codes: OWN_DLT_CODES,
  receipts_with: RECEIPTS_WITH,
  gateway: Type.Optional(gatewaySchema),
});

export type HttpConfig = Static<typeof httpConfigSchema>;

/** Ends the path of a connector's callbacks. */
export const CALLBACK_TOKEN = "callback_token";

/** What each secret is for. */
export const HTTP_SECRETS = {
  auth_token: "twilio, plivo: the account's token; also proves their callbacks",
  api_key: "vonage, infobip: API key",
  api_secret: "vonage: API secret",
  authkey: "msg91: auth key",
  password: "gupshup, kannel: password of the account",
  signature_secret: "vonage: proves callbacks that are signed",
  callback_password: "infobip: password of callbacks; the user name is callback_username",
  [CALLBACK_TOKEN]: "Last part of the callback URL; generated if not given",
} as const;

export type HttpSecret = keyof typeof HTTP_SECRETS;

/** See `readConfig`. */
export function readHttpConfig(connector: Pick<Connector, "name" | "config">): HttpConfig | Error {
  return readConfig(httpConfigSchema, connector);
}

/** The settings that an operator has for the provider's certificate. */
export function certificateFields({ tls_ca, base_url }: HttpConfig): CertificateFields {
  const host = base_url === undefined ? "the host in its URL" : "the host in `base_url`";
  return { authority: "tls_ca", hasAuthority: tls_ca !== undefined, host };
}
