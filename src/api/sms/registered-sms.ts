/** A live account's request against what is registered: templates, senders and, for Indian numbers, DLT. */

import { isIndian, preflightDlt } from "../../core/dlt/dlt.ts";
import type { ErrorCollector } from "../../core/field-errors.ts";
import type { SmsContent } from "../../core/messages/message.ts";
import { present } from "../../core/present.ts";
import type { Sender, SmsTemplate } from "../../core/records/accounts.ts";
import { readSetting } from "../../core/records/settings.ts";
import type { SendSms } from "../../core/sms/send-sms.ts";
import type { SmsCheck, SmsFlight } from "./sms-preflight.ts";

/** The sender and the DLT ids that go out, where they differ from what was asked for, are settled here. */
export const REGISTRATION_CHECKS: readonly SmsCheck[] = [
  { name: "sender", appliesTo: (flight) => !isUnderDlt(flight), judge: judgeSender },
  { name: "dlt", appliesTo: isUnderDlt, judge: judgeDlt },
];

/** After the route is known: whether a template of the account is needed depends on who renders it. */
export const TEMPLATE_CHECK: SmsCheck = { name: "template", judge: judgeTemplates };

/** Without a template there is nothing to hold against the registry, and that is said of the template. */
function isUnderDlt({ request, template }: SmsFlight): boolean {
  const isNamed = template !== undefined || mayBeProviders(request);
  return isNamed && request.to.some(isIndian);
}

/** Named by its DLT id alone, which the provider may know as well as we do. */
function mayBeProviders({ templateId, dltTemplateId }: SendSms): boolean {
  return templateId === undefined && dltTemplateId !== undefined;
}

function judgeSender(flight: SmsFlight, errors: ErrorCollector): void {
  const { request } = flight;
  const sender = senderOf(flight);
  if (request.from !== undefined && !sender) errors.add("from", NOT_A_SENDER);
  flight.resolved = differing(request, { from: sender?.senderId });
}

/** What an Indian operator would refuse. */
async function judgeDlt(flight: SmsFlight, errors: ErrorCollector): Promise<void> {
  const { request, template, directory } = flight;
  const { account, settings } = flight.caller;
  const { from, dltTemplateId, dltEntityId, variables } = request;
  const checked = preflightDlt({
    variableMaxLength: readSetting(settings, "dlt_variable_max_length"),
    templateField: request.templateId === undefined ? "dlt_template_id" : "template_id",
    entities: await directory.dltEntities(account.id),
    ...present({ template, from, dltTemplateId, dltEntityId, variables, sender: senderOf(flight) }),
    ...present({ defaultEntityId: readSetting(settings, "default_dlt_entity_id") }),
  });
  if ("errors" in checked)
    for (const [field, reason] of Object.entries(checked.errors)) errors.add(field, reason);
  else flight.resolved = differing(request, checked.value);
}

const NOT_A_TEMPLATE = "not a template of this account";
const NOT_A_SENDER = "is not a registered sender of this account";

async function judgeTemplates(flight: SmsFlight, errors: ErrorCollector): Promise<void> {
  const { templateId, dltTemplateId } = flight.request;
  const { byId, byDltId } = flight.templates;
  if (templateId !== undefined && !byId) errors.add("template_id", NOT_A_TEMPLATE);
  if (dltTemplateId === undefined) return;
  if (templateId === undefined && !byDltId && !(await isRenderedElsewhere(flight)))
    errors.add("dlt_template_id", NOT_A_TEMPLATE);
  if (byId && byId.dltTemplateId !== dltTemplateId) {
    errors.add("dlt_template_id", "is not the DLT id of the template that template_id names");
  }
}

/**
 * Whether all connectors that any of the messages may go over render by template id at their provider. Where no number
 * of the body was one, it may be so as soon as any connector does.
 */
async function isRenderedElsewhere({ directory, routes, queues }: SmsFlight): Promise<boolean> {
  const renderers = await directory.templateRenderers();
  if (queues.length === 0) return renderers.size > 0;
  return queues.every((queue) => {
    const connectorIds = routes.find(({ id }) => id === queue)?.connectorIds ?? [];
    return connectorIds.length > 0 && connectorIds.every((id) => renderers.has(id));
  });
}

/** The one that is asked for; else the template's; else the account's default or, before that, one that is linked. */
function senderOf({ request, senders, template }: SmsFlight): Sender | undefined {
  const named = request.from ?? template?.from;
  if (named !== undefined) return senders.find(({ senderId }) => senderId === named);
  const linked = template ? senders.filter((sender) => isLinkedTo(template, sender)) : [];
  const byDefault = ({ isDefault }: Sender) => isDefault;
  return linked.find(byDefault) ?? linked[0] ?? senders.find(byDefault);
}

function isLinkedTo({ dltTemplateId, linkedHeaders = [] }: SmsTemplate, sender: Sender): boolean {
  const { senderId, linkedDltTemplateIds = [] } = sender;
  const isListed = dltTemplateId !== undefined && linkedDltTemplateIds.includes(dltTemplateId);
  return isListed || linkedHeaders.includes(senderId);
}

interface Used {
  readonly from?: string | undefined;
  readonly dltTemplateId?: string | undefined;
  readonly dltEntityId?: string | undefined;
}

function differing(request: SendSms, used: Used): SmsContent["resolved"] {
  const resolved = present({
    from: used.from === request.from ? undefined : used.from,
    dltTemplateId: used.dltTemplateId === request.dltTemplateId ? undefined : used.dltTemplateId,
    dltEntityId: used.dltEntityId === request.dltEntityId ? undefined : used.dltEntityId,
  });
  return Object.keys(resolved).length > 0 ? resolved : undefined;
}
