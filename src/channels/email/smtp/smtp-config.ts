import { Type } from "typebox";
import type { Connector } from "../../../core/records/accounts.ts";
import { MAX_PER_SECOND } from "../../channel.ts";
import { bareHost } from "../../host-name.ts";
import { LOCAL_ADDRESS } from "../../local-address.ts";
import { createConfigCheck } from "../config-check.ts";
import { MAIL_PROVIDERS, type MailProviderName } from "../providers/read-mail-callback.ts";
import { integer, type SessionSettings, sessionFields, toSessionSettings } from "./session-settings.ts";

/**
 * `opportunistic`: STARTTLS if the server offers it, with any certificate. `required`: STARTTLS with a valid certificate
 * for the host. `implicit`: TLS from the first octet (port 465), with a valid certificate too. `none`: no TLS.
 */
const TLS_MODES = ["opportunistic", "required", "implicit", "none"] as const;

type TlsMode = (typeof TLS_MODES)[number];

const DEFAULTS = {
  port: 25,
  max_connections: 20,
  max_messages_per_connection: 100,
  connect_timeout_ms: 30_000,
  greeting_timeout_ms: 30_000,
  response_timeout_ms: 120_000,
  send_timeout_ms: 300_000,
  idle_timeout_ms: 30_000,
} as const;

export const smtpConfigSchema = Type.Object({
  host: Type.String({ minLength: 1, maxLength: 255, description: "Name or address of the server." }),
  port: integer(
    DEFAULTS.port,
    [1, 65_535],
    "25 is for relays that know us by address, 587 for ones that want a password, 465 for `implicit` TLS.",
  ),
  tls: Type.Optional(
    Type.Enum(TLS_MODES, {
      type: "string",
      description: "Absent: `required` if `username` is set, else `opportunistic`.",
    }),
  ),
  ca: Type.Optional(
    Type.String({ maxLength: 65_536, description: "PEM certificates to trust instead of the system's." }),
  ),
  local_address: LOCAL_ADDRESS,
  username: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: "Name for AUTH; the secret is `password`.",
    }),
  ),
  ehlo_name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        "Name sent in EHLO: an ASCII domain name, or an address in brackets; absent: the machine's name if it has a dot, else [127.0.0.1].",
    }),
  ),
  provider: Type.Optional(
    Type.Enum(MAIL_PROVIDERS, {
      type: "string",
      description:
        "The relay's provider, whose webhooks arrive at `callback_url`. SendGrid and Resend sign them with the secret `webhook_secret`.",
    }),
  ),
  sns_topic_arn: Type.Optional(
    Type.String({
      pattern: "^arn:aws[a-z-]{0,20}:sns:[a-z0-9-]{1,40}:[0-9]{12}:[A-Za-z0-9_.-]{1,256}$",
      examples: ["arn:aws:sns:eu-west-1:123456789012:mail"],
      description: "SES: the topic of its notifications. Only subscriptions to this topic are confirmed.",
    }),
  ),
  sign: Type.Optional(
    Type.Boolean({
      default: true,
      description:
        "Sign with the domain's DKIM keys; use false for a relay that rewrites Date or Message-ID and signs itself.",
    }),
  ),
  max_connections: integer(
    DEFAULTS.max_connections,
    [1, 1_000],
    "Connections, and so messages, at the same time.",
  ),
  ...sessionFields(DEFAULTS, {
    connecting: "Limit for name lookup and connection together.",
    sending: "Limit for one message in total.",
  }),
  max_per_second: MAX_PER_SECOND,
});

export interface SmtpSettings extends HostSettings {
  readonly provider?: MailProviderName;
  readonly maxConnections: number;
  /** Whether messages are signed with the domain's DKIM keys. */
  readonly isSigning: boolean;
}

/** What a session is opened with. */
export interface HostSettings extends SessionSettings {
  readonly host: string;
  /** The name that the certificate must be for, if `host` is an address. */
  readonly servername?: string;
  readonly tls: TlsMode;
  readonly auth?: { readonly username: string; readonly password: string };
}

/** Throws on a configuration that the schema refuses, which only another version of the program stores. */
export function toSmtpSettings({ config, secrets }: Pick<Connector, "config" | "secrets">): SmtpSettings {
  if (!isSmtpConfig(config)) throw new Error("not an SMTP connector's configuration");
  const given = { ...DEFAULTS, ...config };
  return {
    host: bareHost(given.host),
    tls: given.tls ?? (given.username === undefined ? "opportunistic" : "required"),
    ...(given.username !== undefined && {
      auth: { username: given.username, password: secrets.password ?? "" },
    }),
    ...(given.provider !== undefined && { provider: given.provider }),
    maxConnections: given.max_connections,
    isSigning: given.sign ?? true,
    ...toSessionSettings(given),
  };
}

const isSmtpConfig = createConfigCheck(smtpConfigSchema);
