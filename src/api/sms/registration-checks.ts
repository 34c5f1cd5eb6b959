/** Checks a live account's request against what is registered: templates, senders and, for Indian numbers, DLT ids. */
import type { ErrorCollector } from "../../core/body/field-errors.ts";
import { preflightDlt } from "../../core/dlt/preflight-dlt.ts";
import type { SmsContent } from "../../core/messages/message.ts";
import { present } from "../../core/present.ts";
import type { Sender, SmsTemplate } from "../../core/records/accounts.ts";
import { readSetting } from "../../core/records/settings.ts";
import { notASender } from "../../core/sms/not-a-sender.ts";
import { isIndian } from "../../core/sms/phone-number.ts";
import type { SendSms } from "../../core/sms/send-sms.ts";
import { templateFieldOf } from "./find-templates.ts";
import type { CheckedSms, SmsCheck } from "./sms-checks.ts";

/** The checks of the sender and the DLT ids. They also set `sms.resolved`: what is sent, where that differs from the request. */
export const REGISTRATION_CHECKS: readonly SmsCheck[] = [
  { name: "sender", appliesTo: (sms) => !isUnderDlt(sms), judge: judgeSender },
  { name: "dlt", appliesTo: isUnderDlt, judge: judgeDlt },
];

/** Runs once the route is known: the request must name a template of the account, unless the provider renders the text. */
export const TEMPLATE_CHECK: SmsCheck = { name: "template", judge: judgeTemplates };

/** Without a template there is nothing to compare with the registry; `TEMPLATE_CHECK` reports that it is missing. */
function isUnderDlt({ request, template }: CheckedSms): boolean {
  const isNamed = template !== undefined || mayBeProviders(request);
  return isNamed && request.to.some(isIndian);
}

/** A template named only by its DLT id may be one that the provider knows and we do not. */
function mayBeProviders({ templateId, dltTemplateId }: SendSms): boolean {
  return templateId === undefined && dltTemplateId !== undefined;
}

function judgeSender(sms: CheckedSms, errors: ErrorCollector): void {
  const { request, template } = sms;
  const sender = senderOf(sms);
  const problem = sender ? undefined : notASender({ from: request.from, templateFrom: template?.from });
  if (problem) errors.add("from", problem);
  sms.resolved = differing(request, { from: sender?.senderId });
}

/** Reports what an Indian operator would refuse. */
async function judgeDlt(sms: CheckedSms, errors: ErrorCollector): Promise<void> {
  const { request, template, directory } = sms;
  const { account, settings } = sms.caller;
  const { from, dltTemplateId, dltEntityId, variables } = request;
  const checked = preflightDlt({
    variableMaxLength: readSetting(settings, "dlt_variable_max_length"),
    templateField: templateFieldOf(request),
    entities: await directory.dltEntities(account.id),
    ...present({ template, from, dltTemplateId, dltEntityId, variables, sender: senderOf(sms) }),
    ...present({ defaultEntityId: readSetting(settings, "default_dlt_entity_id") }),
  });
  if ("errors" in checked)
    for (const [field, reason] of Object.entries(checked.errors)) errors.add(field, reason);
  else sms.resolved = differing(request, checked.value);
}

const NOT_A_TEMPLATE = "not a template of this account";

async function judgeTemplates(sms: CheckedSms, errors: ErrorCollector): Promise<void> {
  const { templateId, dltTemplateId } = sms.request;
  const { byId, byDltId } = sms.templates;
  if (templateId !== undefined && !byId) errors.add("template_id", NOT_A_TEMPLATE);
  if (dltTemplateId === undefined) return;
  if (templateId === undefined && !byDltId && !(await isRenderedElsewhere(sms)))
    errors.add("dlt_template_id", NOT_A_TEMPLATE);
  if (byId && byId.dltTemplateId !== dltTemplateId) {
    errors.add("dlt_template_id", "is not the DLT id of the template that template_id names");
  }
}

/**
 * Whether the provider of every connector that the messages may use renders texts by template id. If the body had no valid
 * number, the routes are not known, and one such connector is enough.
 */
async function isRenderedElsewhere({ directory, routes, queues }: CheckedSms): Promise<boolean> {
  const renderers = await directory.templateRenderers();
  if (queues.length === 0) return renderers.size > 0;
  return queues.every((queue) => {
    const connectorIds = routes.find(({ id }) => id === queue)?.connectorIds ?? [];
    return connectorIds.length > 0 && connectorIds.every((id) => renderers.has(id));
  });
}

/**
 * The sender that the request names; else the template's; else one that is linked to the template, preferably the
 * default; else the account's default.
 */
function senderOf({ request, senders, template }: CheckedSms): Sender | undefined {
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

/** The ids in use that differ from those of the request; `undefined` if none does. */
function differing(request: SendSms, used: Used): SmsContent["resolved"] {
  const resolved = present({
    from: used.from === request.from ? undefined : used.from,
    dltTemplateId: used.dltTemplateId === request.dltTemplateId ? undefined : used.dltTemplateId,
    dltEntityId: used.dltEntityId === request.dltEntityId ? undefined : used.dltEntityId,
  });
  return Object.keys(resolved).length > 0 ? resolved : undefined;
}
