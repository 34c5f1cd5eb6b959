import type { MessageError } from "../../core/messages/message.ts";
import { mayBeIndian } from "../../core/sms/phone-number.ts";

export interface ScrubCode {
  readonly code: number;
  readonly reason: string;
  /** What to do about it. */
  readonly hint: string;
}

/** What an operator's own codes mean: `{ "5308": "633" }`. */
export type OwnCodes = Readonly<Record<string, string>>;

export interface ScrubContext {
  readonly own?: OwnCodes | undefined;
  /** The recipient's number, as far as it is known, in whatever way it is written. */
  readonly to?: string | undefined;
}

/**
 * The error behind what an Indian operator's DLT scrubbing writes into a receipt, an answer or a callback: `633`,
 * `0633`, `DLT-633` and `TEMPLATE_NOT_MATCHED` are all `dlt.633`. `undefined` for anything else. Other countries' networks
 * use the same numbers for other things, so for recipients there only `own` codes count, which somebody has entered.
 */
export function dltScrubError(
  written: string | undefined,
  { own = {}, to }: ScrubContext = {},
): MessageError | undefined {
  if (written === undefined) return undefined;
  const isOwn = Object.hasOwn(own, written);
  if (!isOwn && !mayBeIndian(to)) return undefined;
  const found = find((isOwn && own[written]) || written);
  if (!found) return undefined;
  return { code: `dlt.${found.code}`, message: `DLT scrubbing: ${found.reason}; ${found.hint}` };
}

function find(written: string): ScrubCode | undefined {
  const digits = /^(?:(?:dlt|err|error)[\s:_-]*)?0*(\d{3})$/i.exec(written.trim())?.[1];
  if (digits !== undefined) return BY_CODE.get(Number(digits));
  const name = written
    .trim()
    .toUpperCase()
    .replace(/[^A-Z]+/g, "_");
  return BY_NAME.get(OTHER_NAMES[name] ?? name);
}

const RE_REGISTER = "check its state on the DLT portal and renew it";
const ASK_PROVIDER = "ask your provider: it concerns their chain of telemarketers";
const CHAIN = "bind the chain on the DLT portal and give the connector the same dlt_chain_ids";

/**
 * As the DLT platforms publish them to telemarketers. Operators disagree on 611 to 616 and above 666, so there the
 * words are a guess and the code is what counts. `name`: as some write it out in place of the code; those from 630
 * on are not verified, and "" is not known.
 */
const ROWS: readonly (readonly [code: number, name: string, reason: string, hint: string])[] = [
  [
    195,
    "EXPECTED_TLV_MISSING",
    "DLT parameters are missing",
    "check the connector's dlt_*_tag and dlt_order",
  ],
  [600, "ENTITY_NOT_FOUND", "entity not found", "check the entity id of template, sender and settings"],
  [
    601,
    "ENTITY_NOT_REGISTERED",
    "entity not registered",
    "register the entity, or wait until all operators know it",
  ],
  [602, "ENTITY_INACTIVE", "entity inactive", RE_REGISTER],
  [603, "ENTITY_BLACKLISTED", "entity blacklisted", "ask the operator it is registered with"],
  [604, "INVALID_ENTITY_ID", "entity id invalid", "check the entity id and the connector's dlt_entity_tag"],
  [605, "ENTITY_ID_NOT_ALLOWED_FOR_TM", "entity not allowed for this telemarketer", CHAIN],
  [610, "TELEMARKETER_NOT_REGISTERED", "telemarketer not registered", ASK_PROVIDER],
  [611, "TELEMARKETER_INACTIVE", "telemarketer inactive", ASK_PROVIDER],
  [612, "TELEMARKETER_BLACKLISTED", "telemarketer blacklisted", ASK_PROVIDER],
  [613, "TELEMARKETER_NOT_ALLOWED_FOR_ENTITY", "telemarketer not allowed for this entity", CHAIN],
  [614, "PE_TM_HASH_NOT_RECEIVED", "chain hash not received", CHAIN],
  [615, "PE_TM_HASH_NOT_REGISTERED", "chain hash not registered", CHAIN],
  [616, "PE_TM_HASH_INACTIVE", "chain hash inactive", CHAIN],
  [617, "PE_TM_HASH_BLACKLISTED", "chain hash blacklisted", ASK_PROVIDER],
  [618, "PE_TM_HASH_SUSPENDED", "chain hash suspended", ASK_PROVIDER],
  [620, "HEADER_NOT_FOUND", "header not found", "send the bare header, in the case it is registered in"],
  [621, "HEADER_INACTIVE", "header inactive", RE_REGISTER],
  [622, "HEADER_BLACKLISTED", "header blacklisted", "use another header, or ask the operator"],
  [
    623,
    "PEID_NOT_MATCHED_WITH_HEADER",
    "header belongs to another entity",
    "check the entity id of the sender",
  ],
  [624, "HEADER_SUSPENDED_DUE_TO_VALIDITY", "header suspended (validity)", RE_REGISTER],
  [625, "HEADER_SUSPENDED_DUE_TO_USAGE", "header suspended (usage)", RE_REGISTER],
  [
    630,
    "TEMPLATE_NOT_FOUND",
    "template not found",
    "check the DLT template id, or wait until all operators know it",
  ],
  [631, "TEMPLATE_INACTIVE", "template inactive", RE_REGISTER],
  [632, "TEMPLATE_BLACKLISTED", "template blacklisted", "register another template"],
  [
    633,
    "TEMPLATE_NOT_MATCHED",
    "text does not match the template",
    "import the template again and compare word by word",
  ],
  [
    634,
    "HEADER_NOT_REGISTERED_FOR_TEMPLATE",
    "header is not linked to the template",
    "link the two on the DLT portal",
  ],
  [
    635,
    "TEMPLATE_VARIABLE_EXCEEDED_MAX_LENGTH",
    "a variable is too long",
    "shorten it, or lower dlt_variable_max_length",
  ],
  [
    636,
    "ERROR_IDENTIFYING_TEMPLATE",
    "template cannot be identified",
    "send the DLT template id with the message",
  ],
  [
    637,
    "INVALID_TEMPLATE_ID",
    "template id invalid",
    "check the DLT template id and the connector's dlt_template_tag",
  ],
  [
    650,
    "PREFERENCE_NOT_MATCHED",
    "blocked by the recipient's preference (DND)",
    "send no promotional messages there",
  ],
  [651, "", "outside the hours for promotional messages", "set dlt_promotional_hours to 10:00-21:00"],
  [660, "CONSENT_FAILED", "consent failed", "register the recipient's consent on the DLT portal"],
  [670, "SCRUBBING_FAILED", "scrubbing failed", "send again: the platform had no answer"],
];

export const DLT_SCRUB_CODES: readonly ScrubCode[] = ROWS.map(([code, , reason, hint]) => ({
  code,
  reason,
  hint,
}));

/** Seen in receipts and reports beside the names of the platforms. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  INVALID_TEMPLATE: "INVALID_TEMPLATE_ID",
  HEADER_NOT_REGISTERED: "HEADER_NOT_FOUND",
  SENDER_NOT_MATCHED: "PEID_NOT_MATCHED_WITH_HEADER",
  SNDR_NT_REG: "HEADER_NOT_FOUND",
  SNDR_INACTVE: "HEADER_INACTIVE",
  TEMPLATE_NOT_MATCH: "TEMPLATE_NOT_MATCHED",
  TEMPLATE_MISMATCH: "TEMPLATE_NOT_MATCHED",
  TEMPLATE_VARIABLE_EXCEEDED_MAXLENGTH: "TEMPLATE_VARIABLE_EXCEEDED_MAX_LENGTH",
};

const BY_CODE = new Map(DLT_SCRUB_CODES.map((each) => [each.code, each]));
const BY_NAME = new Map(ROWS.flatMap(([code, name]) => (name === "" ? [] : [[name, BY_CODE.get(code)]])));
