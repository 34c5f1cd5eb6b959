/** A live account's request against what is registered: templates, senders and, for Indian numbers, DLT. */

import type { Sender } from "../core/accounts.ts";
import { isIndian, preflightDlt } from "../core/dlt.ts";
import type { ErrorCollector } from "../core/field-errors.ts";
import type { SmsContent } from "../core/message.ts";
import { present } from "../core/present.ts";
import type { SendSms } from "../core/send-sms.ts";
import { readSetting } from "../core/settings.ts";
import type { FoundTemplates } from "./find-templates.ts";
import type { SmsCheck, SmsFlight } from "./sms-preflight.ts";

/** The sender and the DLT ids that go out, where they differ from what was asked for, are settled here. */
export const REGISTRATION_CHECKS: readonly SmsCheck[] = [
  {
    name: "template",
    judge: ({ request, templates }, errors) => reportTemplates(request, templates, errors),
  },
  { name: "sender", appliesTo: (flight) => !isUnderDlt(flight), judge: judgeSender },
  { name: "dlt", appliesTo: isUnderDlt, judge: judgeDlt },
];

/** Without a template there is nothing to hold against the registry, and that is said of the template. */
function isUnderDlt({ request, template }: SmsFlight): boolean {
  return template !== undefined && request.to.some(isIndian);
}

function judgeSender(flight: SmsFlight, errors: ErrorCollector): void {
  const { request } = flight;
  const sender = senderOf(flight);
  if (request.from !== undefined && !sender) errors.add("from", NOT_A_SENDER);
  flight.resolved = differing(request, { from: sender?.senderId });
}

/** What an Indian operator would refuse. */
function judgeDlt(flight: SmsFlight, errors: ErrorCollector): void {
  const { request, template } = flight;
  const { settings } = flight.caller;
  const { from, dltTemplateId, dltEntityId, variables } = request;
  const checked = preflightDlt({
    variableMaxLength: readSetting(settings, "dlt_variable_max_length"),
    ...present({ template, from, dltTemplateId, dltEntityId, variables, sender: senderOf(flight) }),
    ...present({ defaultEntityId: readSetting(settings, "default_dlt_entity_id") }),
  });
  if ("errors" in checked)
    for (const [field, reason] of Object.entries(checked.errors)) errors.add(field, reason);
  else flight.resolved = differing(request, checked.value);
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
function senderOf({ request, senders, template }: SmsFlight): Sender | undefined {
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
