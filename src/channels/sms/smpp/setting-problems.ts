/** What is wrong with settings that each fit their schema, and do not fit together; under the field that is to change. */
import type { Connector } from "../../../core/records/accounts.ts";
import { readConfig } from "../read-config.ts";
import { extraTlvProblems } from "./extra-tlvs.ts";
import { smppConfigSchema } from "./smpp-config.ts";
import { TAG } from "./wire/pdu.ts";

/** SMPP 3.3 has no TLVs (they came with 3.4, §3.2.4), so nothing may be set that is sent in one. */
export function versionProblems(config: Connector["config"]): Readonly<Record<string, string>> {
  if (config.interface_version !== "3.3") return {};
  const refused = Object.entries(SENT_IN_TLVS).filter(([field, { isSent }]) => isSent(config[field]));
  return Object.fromEntries(refused.map(([field, { must }]) => [field, `${must} ${WITHOUT_TLVS}`]));
}

const WITHOUT_TLVS = "with interface_version 3.3, which has no TLVs (optional parameters)";

const SENT_IN_TLVS: Readonly<Record<string, { isSent: (value: unknown) => boolean; must: string }>> = {
  concat: { isSent: (value) => value === "sar" || value === "payload", must: "must be udh8 or udh16" },
  user_message_reference: { isSent: (value) => value === true, must: "must be false" },
  dlt_chain_ids: { isSent: isFilled, must: "must be empty" },
  extra_tlvs: { isSent: isFilled, must: "must be empty" },
};

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

/** An SMSC reads a tag that comes twice as it likes. */
export function tlvProblems(config: Connector["config"]): Readonly<Record<string, string>> {
  const read = readConfig(smppConfigSchema, { name: "", config });
  if (read instanceof Error) return {};
  const { dlt_entity_tag, dlt_template_tag, dlt_chain_tag } = read;
  return extraTlvProblems(read.extra_tlvs, [...SENT_TAGS, dlt_entity_tag, dlt_template_tag, dlt_chain_tag]);
}

const SENT_TAGS = [
  TAG.userMessageReference,
  TAG.sarReference,
  TAG.sarTotal,
  TAG.sarNumber,
  TAG.messagePayload,
];
