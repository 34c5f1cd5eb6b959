/** A live account's request against what is registered: templates, senders and, for Indian numbers, DLT. */

import type { KeyOwner } from "../core/accept-request.ts";
import type { Sender, SmsTemplate } from "../core/accounts.ts";
import { isIndian, preflightDlt } from "../core/dlt.ts";
import type { ErrorCollector } from "../core/field-errors.ts";
import type { SmsContent } from "../core/message.ts";
import { present } from "../core/present.ts";
import type { SendSms } from "../core/send-sms.ts";
import { readSetting } from "../core/settings.ts";
import type { FoundTemplates } from "./find-templates.ts";

export interface Registration {
  readonly caller: KeyOwner;
  readonly request: SendSms;
  readonly templates: FoundTemplates;
  readonly senders: readonly Sender[];
  readonly errors: ErrorCollector;
}

/**
 * The sender and the DLT ids that go out, where they differ from what was asked for. Notes in `errors` whatever
 * is not registered, and what an Indian operator would refuse.
 */
export function resolveRegistered(registration: Registration): SmsContent["resolved"] {
  const { request, templates, errors } = registration;
  reportTemplates(request, templates, errors);
  const template = templates.byId ?? templates.byDltId;
  const sender = senderOf(registration, template);
  const isUnknownSender = request.from !== undefined && !sender;
  if (!request.to.some(isIndian) || !template) {
    if (isUnknownSender) errors.add("from", NOT_A_SENDER);
    return differing(request, { from: sender?.senderId });
  }
  const { settings } = registration.caller;
  const { from, dltTemplateId, dltEntityId, variables } = request;
  const checked = preflightDlt({
    template,
    variableMaxLength: readSetting(settings, "dlt_variable_max_length"),
    ...present({ from, dltTemplateId, dltEntityId, variables, sender }),
    ...present({ defaultEntityId: readSetting(settings, "default_dlt_entity_id") }),
  });
  if (!("errors" in checked)) return differing(request, checked.value);
  for (const [field, reason] of Object.entries(checked.errors)) errors.add(field, reason);
  return undefined;
}

const NOT_A_TEMPLATE = "not a template of this account";
const NOT_A_SENDER = "is not a registered sender of this account";

function reportTemplates(request: SendSms, { byId, byDltId }: FoundTemplates, errors: ErrorCollector): void {
  const { templateId, dltTemplateId } = request;
  if (templateId !== undefined && !byId) errors.add("template_id", NOT_A_TEMPLATE);
  if (dltTemplateId === undefined) return;
  if (templateId === undefined && !byDltId) errors.add("dlt_template_id", NOT_A_TEMPLATE);
  if (byId && byId.dltTemplateId !== dltTemplateId) {
    errors.add("dlt_template_id", "is not the DLT id of the template that template_id names");
  }
}

/** The one that is asked for; else the template's, one linked to it, or the account's default. */
function senderOf({ request, senders }: Registration, template: SmsTemplate | undefined): Sender | undefined {
  const named = request.from ?? template?.from;
  if (named !== undefined) return senders.find(({ senderId }) => senderId === named);
  const dltTemplateId = template?.dltTemplateId;
  const isLinked = ({ linkedDltTemplateIds = [] }: Sender) =>
    dltTemplateId !== undefined && linkedDltTemplateIds.includes(dltTemplateId);
  return senders.find(isLinked) ?? senders.find(({ isDefault }) => isDefault);
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
