import type { SmsTemplate } from "../core/accounts.ts";
import { present } from "../core/present.ts";
import type { SendSms } from "../core/send-sms.ts";
import type { Directory } from "./directory.ts";
import { type MaybePromise, whenReady } from "./when-ready.ts";

/** The account's templates that a request names, one way or the other. */
export interface FoundTemplates {
  readonly byId?: SmsTemplate;
  readonly byDltId?: SmsTemplate;
}

export function findTemplates(
  directory: Directory,
  accountId: string,
  { templateId, dltTemplateId }: SendSms,
): MaybePromise<FoundTemplates> {
  const byId = templateId === undefined ? undefined : directory.template(accountId, templateId);
  const byDltId =
    dltTemplateId === undefined ? undefined : directory.templateByDltId(accountId, dltTemplateId);
  return whenReady(byId, (one) => whenReady(byDltId, (other) => toFound(one, other)));
}

const NONE: FoundTemplates = {};

function toFound(byId: SmsTemplate | undefined, byDltId: SmsTemplate | undefined): FoundTemplates {
  return byId || byDltId ? present({ byId, byDltId }) : NONE;
}
