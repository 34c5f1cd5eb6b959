import Type, { type Static } from "typebox";
import { present } from "../../../core/present.ts";
import type { Connector } from "../../../core/records/accounts.ts";
import { MAX_PER_SECOND } from "../../channel.ts";
import { bareHost } from "../../host-name.ts";
import { LOCAL_ADDRESS } from "../../local-address.ts";
import { milliseconds, OWN_DLT_CODES, RECEIPTS_WITH } from "../config-fields.ts";
import { readConfig } from "../read-config.ts";
import { EXTRA_TLVS } from "./extra-tlvs.ts";
import type { BindRole, SessionOptions } from "./session/session.ts";
import { STATUS_CLASSES } from "./wire/status-words.ts";

const tag = (value: number, description: string) =>
  Type.Integer({ default: value, minimum: 0x0001, maximum: 0xffff, description });
const CHAIN_ID = "^(entity|[0-9]{8,30})$";
const sourceOverride = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 255, description: "Overrides the value that fits the sender" }),
);

/** The first word is the default. */
const choice = <const Word extends string>(
  words: readonly [Word, ...Word[]],
  { description }: { description: string },
) =>
  Type.Unsafe<Word>(
    Type.Union(
      words.map((word) => Type.Literal(word)),
      { default: words[0], description },
    ),
  );

/** India's registration ids, as optional parameters of every segment. */
const dltFields = {
  dlt_entity_tag: tag(0x1400, "TLV of the DLT entity id"),
  dlt_template_tag: tag(0x1401, "TLV of the DLT template id"),
  dlt_chain_tag: tag(0x1402, "TLV of the DLT chain hash"),
  dlt_chain_ids: Type.Array(Type.String({ pattern: CHAIN_ID, examples: ["entity", "1101234567890123456"] }), {
    default: [],
    maxItems: 20,
    description:
      "Ids of the chain whose hash is sent, in order: entity, aggregators, delivery telemarketer; `entity` stands for " +
      "the entity id of the message",
  }),
  dlt_order: choice(["entity_first", "template_first"], {
    description: "Which of the two DLT TLVs comes first",
  }),
  dlt_codes: OWN_DLT_CODES,
  dlt_nul_terminated: Type.Boolean({ default: false, description: "Terminates the DLT TLVs with a NUL" }),
};

/** `Connector.config` of kind `smpp`, as the admin API shows it. */
export const smppConfigSchema = Type.Object({
  host: Type.String({ minLength: 1, maxLength: 253, description: "Name or address of the SMSC" }),
  port: Type.Integer({ default: 2775, minimum: 1, maximum: 65_535, description: "Port of the SMSC" }),
  system_id: Type.String({ minLength: 1, maxLength: 64, description: "system_id in the bind" }),
  bind: choice(["transceiver", "transmitter_receiver"], {
    description: "One session for both directions, or one for each",
  }),
  binds: Type.Integer({
    default: 1,
    minimum: 1,
    maximum: 32,
    description: "Number of parallel sessions, or pairs of sessions",
  }),
  system_type: Type.String({ default: "", maxLength: 12, description: "system_type in the bind" }),
  interface_version: choice(["3.4", "3.3"], {
    description: "interface_version in the bind; with 3.3 no TLVs are sent, which some old SMSCs refuse",
  }),
  address_range: Type.String({ default: "", maxLength: 40, description: "address_range in the bind" }),
  tls: Type.Boolean({ default: false, description: "Connect with TLS" }),
  tls_verify: Type.Boolean({ default: true, description: "false: accept any certificate" }),
  tls_ca: Type.Optional(
    Type.String({ description: "PEM of the certificate authority, if it is not a public one" }),
  ),
  tls_server_name: Type.Optional(
    Type.String({ description: "Name in the certificate, if it is not `host`" }),
  ),
  local_address: LOCAL_ADDRESS,
  window: Type.Integer({
    default: 10,
    minimum: 1,
    maximum: 1000,
    description: "Unanswered submit_sm allowed on each session",
  }),
  response_timeout_ms: milliseconds(
    60_000,
    { minimum: 1000, maximum: 300_000 },
    "How long to wait for an answer of the SMSC",
  ),
  enquire_link_ms: milliseconds(
    30_000,
    { minimum: 1000, maximum: 600_000 },
    "Silence after which enquire_link is sent",
  ),
  source_addr: Type.Optional(Type.String({ maxLength: 20, description: "Sender of messages without one" })),
  source_ton: sourceOverride,
  source_npi: sourceOverride,
  dest_ton: Type.Integer({ default: 1, minimum: 0, maximum: 255, description: "TON of recipients' numbers" }),
  dest_npi: Type.Integer({ default: 1, minimum: 0, maximum: 255, description: "NPI of recipients' numbers" }),
  dest_plus: Type.Boolean({ default: false, description: "Sends numbers with a leading +" }),
  inbound_country_code: Type.Optional(
    Type.String({
      pattern: "^[1-9]\\d{0,2}$",
      examples: ["1", "44"],
      description: "Country code of the numbers that this SMSC delivers without one (TON 2), for example 1",
    }),
  ),
  concat: choice(["udh8", "udh16", "sar", "payload"], {
    description:
      "How a long message is sent: in segments with an 8-bit or 16-bit reference in the header, in segments with SAR " +
      "parameters, or whole in message_payload",
  }),
  default_alphabet: choice(["gsm7", "ascii", "latin1"], {
    description: "Alphabet of this SMSC's default data coding",
  }),
  default_data_coding: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 255,
    description: "data_coding of text in the default alphabet",
  }),
  ucs2_data_coding: Type.Integer({
    default: 8,
    minimum: 0,
    maximum: 255,
    description: "data_coding of UCS-2",
  }),
  user_message_reference: Type.Boolean({
    default: false,
    description: "Sends a reference with every segment; some SMSCs repeat it in receipts",
  }),
  query_sm: Type.Boolean({
    default: false,
    description: "Query the SMSC about messages whose receipt does not arrive",
  }),
  registered_delivery: Type.Integer({
    default: 1,
    minimum: 0,
    maximum: 255,
    description: "registered_delivery of each submit_sm; 1 requests all final receipts",
  }),
  validity_period: Type.Boolean({
    default: true,
    description: "Tells the SMSC how long the message is valid",
  }),
  service_type: Type.String({
    default: "",
    maxLength: 5,
    pattern: "^[\\x21-\\x7e]*$",
    examples: ["WAP", "OTP"],
    description: "service_type of each submit_sm, by which some SMSCs route or charge",
  }),
  priority_flag: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 3,
    description: "priority_flag of each submit_sm; 0 is the lowest",
  }),
  id_format: choice(["same", "resp_hex_receipt_dec", "resp_dec_receipt_hex"], {
    description: "Whether receipts write the message id as submit_sm_resp does, or in another base",
  }),
  receipts_by_text: Type.Boolean({
    default: false,
    description: "This SMSC does not mark receipts as such: tell them from inbound messages by their text",
  }),
  receipts_with: RECEIPTS_WITH,
  ...dltFields,
  extra_tlvs: EXTRA_TLVS,
  max_per_second: MAX_PER_SECOND,
  max_per_second_per_sender: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 100_000,
      description: "Most segments per second from one sender; absent: no limit",
    }),
  ),
  status_classes: Type.Record(
    Type.String({ pattern: "^0x[0-9a-fA-F]{1,8}$" }),
    Type.Union(STATUS_CLASSES.map((name) => Type.Literal(name))),
    {
      default: {},
      description: "Meaning of this SMSC's command_status values, for example 0x00000401: transient",
    },
  ),
});

export type SmppConfig = Static<typeof smppConfigSchema>;

/** How long connecting may take, TLS included. */
const CONNECT_TIMEOUT_MS = 10_000;
const BIND_TIMEOUT_MS = 30_000;

/** See `readConfig`. */
export function readSmppConfig(connector: Connector): SmppConfig | Error {
  const config = readConfig(smppConfigSchema, connector);
  return config instanceof Error ? config : { ...config, host: bareHost(config.host) };
}

/** The role of each session to open. The first one submits. */
export function bindRoles({ bind, binds }: SmppConfig): readonly BindRole[] {
  const roles = bind === "transceiver" ? (["transceiver"] as const) : (["transmitter", "receiver"] as const);
  return Array.from({ length: binds }, () => roles).flat();
}

export function sessionOptions(
  config: SmppConfig,
  secrets: Connector["secrets"],
): Omit<SessionOptions, "role" | "window"> {
  return {
    host: config.host,
    port: config.port,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    bindTimeoutMs: BIND_TIMEOUT_MS,
    responseTimeoutMs: config.response_timeout_ms,
    enquireLinkMs: config.enquire_link_ms,
    systemId: config.system_id,
    password: secrets.password ?? "",
    systemType: config.system_type,
    interfaceVersion: INTERFACE_VERSIONS[config.interface_version],
    addressRange: { ton: 0, npi: 0, address: config.address_range },
    ...present({ localAddress: config.local_address }),
    ...(config.tls ? { tls: tlsSettings(config) } : {}),
  };
}

/** As the bind has them (SMPP 3.4 §5.2.4). */
const INTERFACE_VERSIONS = { "3.4": 0x34, "3.3": 0x33 } as const;

function tlsSettings(config: SmppConfig): NonNullable<SessionOptions["tls"]> {
  return {
    isVerified: config.tls_verify,
    ...(config.tls_ca === undefined ? {} : { ca: config.tls_ca }),
    ...(config.tls_server_name === undefined ? {} : { serverName: config.tls_server_name }),
  };
}
