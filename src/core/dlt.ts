import type { AccountMode, Sender, SmsTemplate } from "./accounts.ts";
import { parseEmailAddress } from "./email-address.ts";
import { createErrors, type ErrorCollector, type Parsed } from "./field-errors.ts";
import { type PlaceholderKind, templatePlaceholders, type Variables } from "./template.ts";
import { isVisibleAscii } from "./text-rules.ts";

/** What a live request to Indian numbers names, and what the account has registered under those names. */
export interface DltDeclaration {
  readonly from?: string;
  readonly dltTemplateId?: string;
  readonly dltEntityId?: string;
  readonly variables?: Variables;
  /** Absent where the provider renders by template id. */
  readonly template?: Pick<SmsTemplate, "body" | "dltTemplateId" | "dltEntityId">;
  /** The sender `from` names or, without `from`, the template's or the account's default one. */
  readonly sender?: Pick<Sender, "senderId" | "dltEntityId" | "linkedDltTemplateIds">;
  /** Of the account's settings. */
  readonly defaultEntityId?: string;
  readonly variableMaxLength: number;
}

/** What goes out as DLT parameters. */
export interface DltResolution {
  readonly from: string;
  readonly dltTemplateId: string;
  readonly dltEntityId: string;
}

/**
 * Finds what the operator's scrubbing would refuse (codes 600 to 637) before anything is sent: an unknown entity, a
 * header that is not registered or not linked, a value that is too long or not of its tag's kind. A variable that is
 * missing is not its business: rendering says so.
 */
export function preflightDlt(declared: DltDeclaration): Parsed<DltResolution> {
  const errors = createErrors();
  const { template, sender } = declared;
  const dltTemplateId = declared.dltTemplateId ?? template?.dltTemplateId;
  const dltEntityId =
    declared.dltEntityId ?? template?.dltEntityId ?? sender?.dltEntityId ?? declared.defaultEntityId;
  if (dltTemplateId === undefined) errors.add("dlt_template_id", NO_TEMPLATE_ID);
  if (dltEntityId === undefined) errors.add("dlt_entity_id", NO_ENTITY_ID);
  if (isOther(template?.dltEntityId, dltEntityId)) errors.add("dlt_entity_id", OTHER_ENTITY);
  const problem = senderProblem(declared, { dltTemplateId, dltEntityId });
  if (problem !== undefined) errors.add("from", problem);
  judgeValues(declared, errors);
  if (!errors.isEmpty()) return { errors: errors.list() };
  return {
    value: {
      from: sender?.senderId ?? "",
      dltTemplateId: dltTemplateId ?? "",
      dltEntityId: dltEntityId ?? "",
    },
  };
}

/**
 * What is wrong with a DLT template or entity id. Real ids have 12 to 19 digits; the live rule leaves room
 * around that. A sandbox takes any short visible text.
 */
export function dltIdProblem(id: string, mode: AccountMode): string | undefined {
  if (mode === "live") return LIVE_ID.test(id) ? undefined : "must be a DLT id of 8 to 30 digits";
  return id.length <= 64 && isVisibleAscii(id) ? undefined : "must be 1 to 64 visible characters";
}

/** Whether an E.164 number is under the DLT rules. */
export function isIndian(number: string): boolean {
  return number.startsWith("+91");
}

const LIVE_ID = /^\d{8,30}$/;

const NO_TEMPLATE_ID = "required for Indian numbers: the template has no DLT template id";
const NO_ENTITY_ID =
  "required for Indian numbers: neither the template, the sender nor the account's settings name one";
const OTHER_ENTITY = "is not the entity the template is registered under";

function senderProblem(
  { from, sender }: DltDeclaration,
  { dltTemplateId, dltEntityId }: { dltTemplateId: string | undefined; dltEntityId: string | undefined },
): string | undefined {
  if (!sender) {
    return from === undefined
      ? "required for Indian numbers: neither the template nor the account has a default sender"
      : "is not a registered sender of this account";
  }
  if (isOther(sender.dltEntityId, dltEntityId)) return "is registered under another DLT entity";
  const linked = sender.linkedDltTemplateIds;
  const isLinked = linked === undefined || dltTemplateId === undefined || linked.includes(dltTemplateId);
  return isLinked ? undefined : "is not linked to this DLT template";
}

function isOther(registered: string | undefined, used: string | undefined): boolean {
  return registered !== undefined && used !== undefined && registered !== used;
}

function judgeValues(
  { template, variables = {}, variableMaxLength }: DltDeclaration,
  errors: ErrorCollector,
): void {
  for (const [name, value] of Object.entries(variables)) {
    if ([...String(value)].length <= variableMaxLength) continue;
    errors.add(`variables.${name}`, `must be at most ${variableMaxLength} characters for Indian numbers`);
  }
  for (const { name, kind } of template ? templatePlaceholders(template.body) : []) {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value === undefined) continue;
    const rule = KIND_RULES[kind];
    if (rule && !rule.accepts(String(value))) errors.add(`variables.${name}`, rule.sentence);
  }
}

interface KindRule {
  readonly accepts: (value: string) => boolean;
  readonly sentence: string;
}

/** TRAI direction of 18 November 2025, as the portals put it. */
const KIND_RULES: Readonly<Record<PlaceholderKind, KindRule | undefined>> = {
  var: undefined,
  numeric: {
    accepts: (value) => /^[0-9]+$/.test(value),
    sentence: "must be digits only, as the template's {#numeric#} says",
  },
  alphanumeric: {
    // Marks belong to Indic letters; spaces are ignored when operators match.
    accepts: (value) => /^[\p{L}\p{M}\p{N} ]+$/u.test(value),
    sentence: "must be letters and digits only, as the template's {#alphanumeric#} says",
  },
  url: { accepts: isLink, sentence: "must be a link, as the template's {#url#} says" },
  urlott: { accepts: isLink, sentence: "must be a link, as the template's {#urlott#} says" },
  cbn: {
    accepts: (value) => /^\+?[0-9][0-9 -]{1,18}[0-9]$/.test(value),
    sentence: "must be a call-back number, as the template's {#cbn#} says",
  },
  email: {
    accepts: (value) => parseEmailAddress(value) !== undefined,
    sentence: "must be an email address, as the template's {#email#} says",
  },
};

/** With or without a scheme, as links stand in messages: `https://x.in/a`, `x.in/a`, `app://open`. */
function isLink(value: string): boolean {
  return /^(?:[A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s]+|[^\s/:]+\.[^\s]+)$/.test(value);
}
