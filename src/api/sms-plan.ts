/** What an account's records make of a request: the text, the sender and ids used, and the queue of each number. */

import type { KeyOwner } from "../core/accept-request.ts";
import type { Route, SmsTemplate } from "../core/accounts.ts";
import { createErrors, type ErrorCollector } from "../core/field-errors.ts";
import type { SmsContent } from "../core/message.ts";
import { chooseRoute, SANDBOX_QUEUES } from "../core/routes.ts";
import type { SendSms } from "../core/send-sms.ts";
import { renderTemplate } from "../core/template.ts";
import type { Directory } from "./directory.ts";
import { validationFailed } from "./errors.ts";
import { type FoundTemplates, findTemplates } from "./find-templates.ts";
import { resolveRegistered } from "./registered-sms.ts";
import { type MaybePromise, whenReady } from "./when-ready.ts";

export interface SmsPlan {
  readonly content: SmsContent;
  /** Aligned with the request's `to`. */
  readonly queues: readonly string[];
}

/** Refuses, with every problem at once, what could not be sent. */
export function planSms(directory: Directory, caller: KeyOwner, request: SendSms): MaybePromise<SmsPlan> {
  const isSandbox = caller.account.mode === "sandbox";
  return whenReady(findTemplates(directory, caller.account.id, request), (templates) =>
    isSandbox ? planSandbox(request, templates) : planLive(directory, caller, { request, templates }),
  );
}

function planSandbox(request: SendSms, templates: FoundTemplates): SmsPlan {
  const template = templates.byId ?? templates.byDltId;
  if (template) {
    const errors = createErrors();
    reportMissingVariables(template, request, errors);
    refuseIfAny(errors);
  }
  return { content: toContent(request, template), queues: request.to.map(() => SANDBOX_QUEUES.sms) };
}

async function planLive(
  directory: Directory,
  caller: KeyOwner,
  { request, templates }: { readonly request: SendSms; readonly templates: FoundTemplates },
): Promise<SmsPlan> {
  const accountId = caller.account.id;
  const template = templates.byId ?? templates.byDltId;
  const errors = createErrors();
  if (template) reportMissingVariables(template, request, errors);
  const senders = await directory.senders(accountId);
  const resolved = resolveRegistered({ caller, request, templates, senders, errors });
  const queues = queuesOf(await directory.routes(), { accountId, request, errors });
  refuseIfAny(errors);
  return { content: { ...toContent(request, template), ...(resolved && { resolved }) }, queues };
}

function reportMissingVariables(template: SmsTemplate, request: SendSms, errors: ErrorCollector): void {
  const rendered = renderTemplate(template.body, request.variables ?? {});
  if (!("missing" in rendered)) return;
  for (const name of rendered.missing) errors.add(`variables.${name}`, "required by the template");
}

function refuseIfAny(errors: ErrorCollector): void {
  if (!errors.isEmpty()) throw validationFailed(errors.list());
}

/** Everything of the request but its recipients and its times. Field by field: a rest pattern costs most of a microsecond. */
function toContent(request: SendSms, template: SmsTemplate | undefined): SmsContent {
  const content: { -readonly [Field in keyof SmsContent]: SmsContent[Field] } = { channel: "sms" };
  if (request.from !== undefined) content.from = request.from;
  if (request.templateId !== undefined) content.templateId = request.templateId;
  if (request.dltTemplateId !== undefined) content.dltTemplateId = request.dltTemplateId;
  if (request.dltEntityId !== undefined) content.dltEntityId = request.dltEntityId;
  if (request.variables !== undefined) content.variables = request.variables;
  if (request.callbackUrl !== undefined) content.callbackUrl = request.callbackUrl;
  if (request.tags !== undefined) content.tags = request.tags;
  if (request.metadata !== undefined) content.metadata = request.metadata;
  if (template) content.text = template.body;
  return content;
}

interface Destinations {
  readonly accountId: string;
  readonly request: SendSms;
  readonly errors: ErrorCollector;
}

function queuesOf(routes: readonly Route[], { accountId, request, errors }: Destinations): readonly string[] {
  const total = request.to.length;
  return request.to.map((destination, index) => {
    const route = chooseRoute(routes, { accountId, channel: "sms", destination });
    if (route) return route.id;
    if (request.isBatch) errors.addEntry("to", { index, total, at: `to.${index}`, reason: NO_ROUTE });
    else errors.add("to", NO_ROUTE);
    return "";
  });
}

const NO_ROUTE = "no route of the account leads to this number";
