import { Type } from "typebox";
import { isIpRange } from "../../../core/network/ip-range.ts";
import type { Connector } from "../../../core/records/accounts.ts";
import { authorityProblem } from "../../authority-problem.ts";
import { MAX_PER_SECOND } from "../../channel.ts";
import { familyOf, LOCAL_ADDRESS, localAddressProblem } from "../../local-address.ts";
import { createConfigCheck } from "../config-check.ts";
import { ehloNameProblem } from "../smtp/ehlo-name.ts";
import { integer, type SessionSettings, sessionFields, toSessionSettings } from "../smtp/session-settings.ts";

const DEFAULTS = {
  port: 25,
  max_connections: 50,
  max_connections_per_domain: 5,
  max_connections_per_host: 5,
  max_messages_per_connection: 100,
  connect_timeout_ms: 30_000,
  greeting_timeout_ms: 60_000,
  response_timeout_ms: 180_000,
  send_timeout_ms: 600_000,
  idle_timeout_ms: 10_000,
  mta_sts_port: 443,
} as const;

const FAMILIES = ["any", "ipv4", "ipv6"] as const;

export const mxConfigSchema = Type.Object({
  ehlo_name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        "Name sent in EHLO: an ASCII domain name, or an address in brackets; absent: the machine's name if it has a dot, else [127.0.0.1], which many hosts refuse. " +
        "Forward and reverse DNS of the name and the sending address should match.",
    }),
  ),
  ip: Type.Optional(
    Type.Enum(FAMILIES, {
      type: "string",
      default: "any",
      description: "Which addresses of a mail host are used; `any` tries IPv4 first.",
    }),
  ),
  local_address: LOCAL_ADDRESS,
  mta_sts: Type.Optional(
    Type.Boolean({
      default: true,
      description: "Follow the MTA-STS policies that domains publish (RFC 8461).",
    }),
  ),
  ca: Type.Optional(
    Type.String({
      maxLength: 65_536,
      description: "PEM certificates that MTA-STS trusts instead of the system's.",
    }),
  ),
  allowed_ranges: Type.Optional(
    Type.Array(Type.String({ maxLength: 64 }), {
      maxItems: 50,
      description: "Private or reserved addresses or ranges (10.0.0.0/8) to which connections are allowed.",
    }),
  ),
  port: integer(DEFAULTS.port, [1, 65_535], "SMTP port of mail hosts; change it only for tests."),
  mta_sts_port: integer(
    DEFAULTS.mta_sts_port,
    [1, 65_535],
    "HTTPS port of MTA-STS policies; change it only for tests.",
  ),
  max_connections: integer(DEFAULTS.max_connections, [1, 10_000], "Messages sent at the same time."),
  max_connections_per_domain: integer(
    DEFAULTS.max_connections_per_domain,
    [1, 1_000],
    "Messages to one domain at the same time.",
  ),
  max_connections_per_host: integer(
    DEFAULTS.max_connections_per_host,
    [1, 1_000],
    "Connections to one mail host at the same time, for all domains together; counted by the host's name and by its address.",
  ),
  max_per_second_per_domain: rate("Most messages per second to one domain; absent: no limit."),
  max_per_second_per_host: rate(
    "Most messages per second to one mail host, by its name and by its address; absent: no limit.",
  ),
  ...sessionFields(DEFAULTS, {
    connecting: "Limit for the connection.",
    sending: "Limit for one message, with all its domains and hosts.",
  }),
  max_per_second: MAX_PER_SECOND,
});

export interface MxSettings {
  /** The settings of every session, apart from the host and whether TLS is required. */
  readonly session: SessionSettings;
  readonly family: (typeof FAMILIES)[number];
  readonly keepsMtaSts: boolean;
  readonly mtaStsPort: number;
  readonly allowedRanges: readonly string[];
  readonly maxConnections: number;
  readonly perDomain: Limits;
  readonly perHost: Limits;
  readonly sendTimeoutMs: number;
}

export interface Limits {
  readonly atATime: number;
  /** Absent: without limit. */
  readonly perSecond?: number;
}

/** Throws on a configuration that the schema refuses, which only another version of the program stores. */
export function toMxSettings({ config }: Pick<Connector, "config">): MxSettings {
  if (!isMxConfig(config)) throw new Error("not an MX connector's configuration");
  const given = { ...DEFAULTS, ...config };
  return {
    session: toSessionSettings(given),
    family: given.local_address === undefined ? (given.ip ?? "any") : `ipv${familyOf(given.local_address)}`,
    keepsMtaSts: given.mta_sts ?? true,
    mtaStsPort: given.mta_sts_port,
    allowedRanges: given.allowed_ranges ?? [],
    maxConnections: given.max_connections,
    perDomain: toLimits(given.max_connections_per_domain, given.max_per_second_per_domain),
    perHost: toLimits(given.max_connections_per_host, given.max_per_second_per_host),
    sendTimeoutMs: given.send_timeout_ms,
  };
}

/** What the schema cannot say, by field. */
export function mxProblems({ config }: Pick<Connector, "config">): Readonly<Record<string, string>> {
  const ranges = config.allowed_ranges;
  const isBad = Array.isArray(ranges) && !ranges.every((range) => isIpRange(String(range)));
  return {
    ...(isBad && { allowed_ranges: "must be addresses or ranges, for example 10.0.0.0/8" }),
    ...localAddressProblem(config),
    ...ehloNameProblem({ config }),
    ...authorityProblem("ca", config.ca),
  };
}

function toLimits(atATime: number, perSecond: number | undefined): Limits {
  return { atATime, ...(perSecond !== undefined && { perSecond }) };
}

function rate(description: string) {
  return Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 100_000, description }));
}

const isMxConfig = createConfigCheck(mxConfigSchema);
