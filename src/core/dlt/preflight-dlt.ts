/** Checks a request against the registrations on the DLT portals, before an operator makes the same check. */
import { createErrors } from "../body/field-errors.ts";
import type { Parsed } from "../body/parse-body.ts";
import { present } from "../present.ts";
import type { DltEntity, Sender, SmsTemplate } from "../records/accounts.ts";
import { notASender } from "../sms/not-a-sender.ts";
import type { Variables } from "../sms/template.ts";
import { dltIdProblem } from "./dlt-id.ts";
import type { DltStatus } from "./dlt-registry.ts";
import { judgeDltValues } from "./dlt-values.ts";
import { bareHeader } from "./dlt-words.ts";

/** The names in a live request to Indian numbers, and the account's records of them. */
export interface DltDeclaration {
  readonly from?: string;
  readonly dltTemplateId?: string;
  readonly dltEntityId?: string;
  readonly variables?: Variables;
  /** Absent if the provider renders the text by the template id. */
  readonly template?: RegisteredTemplate;
  /** The field under which problems of the template are reported. */
  readonly templateField: "template_id" | "dlt_template_id";
  /** The sender that `from` names or, without `from`, the default one of the template or the account. */
  readonly sender?: RegisteredSender;
  /** The account's entities; empty: entity ids are not checked against them. */
  readonly entities: readonly RegisteredEntity[];
  /** The account's setting `default_dlt_entity_id`. */
  readonly defaultEntityId?: string;
  readonly variableMaxLength: number;
}

type RegisteredTemplate = Pick<
  SmsTemplate,
  "body" | "dltTemplateId" | "dltEntityId" | "from" | "category" | "variableTags" | "linkedHeaders" | "status"
>;
type RegisteredSender = Pick<
  Sender,
  "senderId" | "dltEntityId" | "linkedDltTemplateIds" | "headerType" | "status"
>;
type RegisteredEntity = Pick<DltEntity, "entityId" | "status" | "whitelistedUrls" | "callbackNumbers">;

/** The DLT parameters to send. One is absent only if the provider renders by the template id, and adds it by itself. */
export interface DltResolution {
  readonly from?: string;
  readonly dltTemplateId?: string;
  readonly dltEntityId?: string;
}

/**
 * Finds what the operator's scrubbing would refuse (codes 600 to 637) before anything is sent: an unknown entity, a
 * template that is not approved, a header that is not bare, not registered or not linked, a value that is too long or not of
 * its tag's kind. Missing variables are not checked here, but when the text is rendered.
 */
export function preflightDlt(declared: DltDeclaration): Parsed<DltResolution> {
  const errors = createErrors();
  const { template, sender, templateField } = declared;
  const dltTemplateId = declared.dltTemplateId ?? template?.dltTemplateId;
  const dltEntityId =
    declared.dltEntityId ?? template?.dltEntityId ?? sender?.dltEntityId ?? declared.defaultEntityId;
  const wrongTemplateId = dltTemplateId === undefined ? NO_TEMPLATE_ID : idProblem(dltTemplateId);
  if (wrongTemplateId) errors.add("dlt_template_id", wrongTemplateId);
  const entity = declared.entities.find(({ entityId }) => entityId === dltEntityId);
  const problems: Readonly<Record<string, string | undefined>> = {
    [templateField]: template && portalProblem(template),
    dlt_entity_id: (dltEntityId && idProblem(dltEntityId)) ?? entityProblem(declared, dltEntityId, entity),
    from: senderProblem(declared, { dltTemplateId, dltEntityId }),
  };
  for (const [field, problem] of Object.entries(problems)) if (problem) errors.add(field, problem);
  const { variables = {}, variableMaxLength: maxLength } = declared;
  judgeDltValues({ variables, maxLength, ...present({ template, entity }) }, errors);
  if (!errors.isEmpty()) return { errors: errors.list() };
  return { value: present({ from: sender?.senderId, dltTemplateId, dltEntityId }) };
}

const NO_TEMPLATE_ID = "required for Indian numbers: the template has no DLT template id";
const NO_ENTITY_ID =
  "required for Indian numbers: neither the template, the sender nor the account's settings name one";
const NO_SENDER = "required for Indian numbers: neither the template nor the account has a default sender";
const OTHER_ENTITY = "is not the entity the template is registered under";

/** The id may be a record's from a time in which its account was a sandbox, which takes any. */
function idProblem(id: string): string | undefined {
  const problem = dltIdProblem(id, "live");
  return problem && `${id} ${problem}`;
}

function portalProblem({ status }: { readonly status?: DltStatus }): string | undefined {
  return status === undefined || status === "approved" ? undefined : `is ${status} on the DLT portal`;
}

function entityProblem(
  { template, entities }: DltDeclaration,
  dltEntityId: string | undefined,
  entity: RegisteredEntity | undefined,
): string | undefined {
  if (dltEntityId === undefined) return template && NO_ENTITY_ID;
  if (isOther(template?.dltEntityId, dltEntityId)) return OTHER_ENTITY;
  if (entity) return portalProblem(entity);
  return entities.length > 0 ? "is not a DLT entity of this account" : undefined;
}

interface Ids {
  readonly dltTemplateId: string | undefined;
  readonly dltEntityId: string | undefined;
}

function senderProblem(
  { from, sender, template }: DltDeclaration,
  { dltTemplateId, dltEntityId }: Ids,
): string | undefined {
  if (!sender) return notASender({ from, templateFrom: template?.from }) ?? (template && NO_SENDER);
  const bare = bareHeader(sender.senderId);
  if (bare !== sender.senderId) return `must be the bare header ${bare}: operators add what stands round it`;
  if (isOther(sender.dltEntityId, dltEntityId)) return "is registered under another DLT entity";
  if (!isLinked(sender, template, dltTemplateId)) return "is not linked to this DLT template";
  const isOutOfPlace = sender.headerType === "promotional" && NEVER_PROMOTIONAL.has(template?.category ?? "");
  return isOutOfPlace ? "is a header for promotional messages only" : portalProblem(sender);
}

/** Without `service_explicit`, since such templates have moved to promotional. */
const NEVER_PROMOTIONAL: ReadonlySet<string> = new Set(["transactional", "service_implicit"]);

/**
 * Whether the header may be used with the template. It is enough that one of them lists the other. If neither has a list, a header
 * may be used with all templates of its entity.
 */
function isLinked(
  { senderId, linkedDltTemplateIds: templates }: RegisteredSender,
  template: RegisteredTemplate | undefined,
  dltTemplateId: string | undefined,
): boolean {
  const headers = template?.linkedHeaders;
  if (dltTemplateId === undefined || (!templates && !headers)) return true;
  return templates?.includes(dltTemplateId) === true || headers?.includes(senderId) === true;
}

function isOther(registered: string | undefined, used: string | undefined): boolean {
  return registered !== undefined && used !== undefined && registered !== used;
}
