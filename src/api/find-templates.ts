import type { SmsTemplate } from "../core/accounts.ts";
import { present } from "../core/present.ts";
import type { SendSms } from "../core/send-sms.ts";
import type { Directory } from "./directory.ts";

/** The account's templates that a request names, one way or the other. */
export interface FoundTemplates {
  readonly byId?: SmsTemplate;
  readonly byDltId?: SmsTemplate;
}

export async function findTemplates(
  directory: Directory,
  accountId: string,
  { templateId, dltTemplateId }: SendSms,
): Promise<FoundTemplates> {
  return present({
    byId: templateId === undefined ? undefined : await directory.template(accountId, templateId),
    byDltId:
      dltTemplateId === undefined ? undefined : await directory.templateByDltId(accountId, dltTemplateId),
  });
}
