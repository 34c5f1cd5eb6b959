/** Whether an account's sending limits would refuse a request now. Accepting checks them again, in its own transaction. */
import type { FieldErrors } from "../../core/body/field-errors.ts";
import { tallyOf } from "../../core/messages/sending-limits.ts";
import { present } from "../../core/present.ts";
import type { SmsTemplate } from "../../core/records/accounts.ts";
import { readSetting } from "../../core/records/settings.ts";
import type { Intake } from "../../store/store.ts";
import { limitedRequest, limitSentence } from "../limits/sending-limit.ts";
import type { SmsRequest } from "./sms-checks.ts";

/** A request whose size is checked against the limits. */
export interface LimitQuery extends SmsRequest {
  readonly template: SmsTemplate | undefined;
}

/** Why a recipient would be refused; `undefined` if it would not. */
export type LimitVerdict = (recipient: string) => FieldErrors | undefined;

/** `undefined` if the account has no limits. */
export async function judgeLimits(
  intake: Pick<Intake, "overLimit">,
  { caller, request, template, now }: LimitQuery,
): Promise<LimitVerdict | undefined> {
  const content = {
    channel: "sms" as const,
    ...present({ text: template?.body, variables: request.variables }),
  };
  const limited = limitedRequest(caller, { content, to: request.to }, now);
  if (!limited) return undefined;
  const isOnce = readSetting(caller.settings, "batch_duplicates") === "once";
  const recipients = isOnce ? [...new Set(request.to)] : request.to;
  const refusal = await intake.overLimit({ accountId: caller.account.id, recipients, limited });
  if (!refusal) return () => undefined;
  const over = "recipients" in refusal ? new Set(refusal.recipients) : undefined;
  const tally = tallyOf(recipients);
  return (recipient) =>
    over?.has(recipient) === false ? undefined : { to: limitSentence(refusal, tally.get(recipient)) };
}
