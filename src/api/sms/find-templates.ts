import { present } from "../../core/present.ts";
import type { SmsTemplate } from "../../core/records/accounts.ts";
import type { SendSms } from "../../core/sms/send-sms.ts";
import type { Directory } from "../records/directory.ts";
import type { MaybePromise } from "../when-ready.ts";

/** The account's templates that a request names, by id, by DLT id or both. */
export interface FoundTemplates {
  readonly byId?: SmsTemplate;
  readonly byDltId?: SmsTemplate;
}

/** Returns a promise only if a template is not cached. */
export function findTemplates(
  directory: Directory,
  accountId: string,
  { templateId, dltTemplateId }: SendSms,
): MaybePromise<FoundTemplates> {
  const byId = templateId === undefined ? undefined : directory.template(accountId, templateId);
  const byDltId =
    dltTemplateId === undefined ? undefined : directory.templateByDltId(accountId, dltTemplateId);
  if (byId instanceof Promise || byDltId instanceof Promise) return whenRead(byId, byDltId);
  return toFound(byId, byDltId);
}

type Read = MaybePromise<SmsTemplate | undefined>;

async function whenRead(byId: Read, byDltId: Read): Promise<FoundTemplates> {
  // Awaited together: if both fail, neither is an unhandled rejection.
  const [one, other] = await Promise.all([byId, byDltId]);
  return toFound(one, other);
}

const NONE: FoundTemplates = {};

function toFound(byId: SmsTemplate | undefined, byDltId: SmsTemplate | undefined): FoundTemplates {
  return byId || byDltId ? present({ byId, byDltId }) : NONE;
}

/** The field of the request that names the template whose text is sent. */
export function templateFieldOf({ templateId }: SendSms): "template_id" | "dlt_template_id" {
  return templateId === undefined ? "dlt_template_id" : "template_id";
}
