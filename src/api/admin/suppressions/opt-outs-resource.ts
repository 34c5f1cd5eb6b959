import Type from "typebox";
import { present } from "../../../core/present.ts";
import type { OptOut } from "../../../core/records/accounts.ts";
import { INVALID_PHONE_NUMBER, parsePhoneNumber, toNumberPart } from "../../../core/sms/phone-number.ts";
import { senderKey } from "../../../core/suppressions/opt-out.ts";
import type { Endpoint } from "../../endpoint.ts";
import { restorePlus } from "../../lists/restore-plus.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { judgeField } from "../draft.ts";
import { givenFields } from "../given-fields.ts";
import { recordEndpoints } from "../record-endpoints.ts";
import type { RecordPlan } from "../record-plan.ts";
import { shownFields } from "../shown-fields.ts";
import { recipientSchema, showRecipient } from "./erased-fields.ts";

/** Opt-outs: the numbers to which an account's SMS are not sent, from one sender or from any. */
export function optOutEndpoints(deps: AdminDeps): readonly Endpoint[] {
  return recordEndpoints(deps, plan, {
    create: {
      schema: Type.Object({
        account_id: givenFields.account_id,
        recipient,
        sender: Type.Optional(sender),
        reason: Type.Optional(reason),
      }),
      judge(draft) {
        judgeField(draft, "recipient", (text) => (parsePhoneNumber(text) ? undefined : INVALID_PHONE_NUMBER));
        judgeField(draft, "sender", (text) => (senderKey(text) === "" ? NO_SENDER : undefined));
      },
      toRecord: (given, stamp) =>
        present({
          ...stamp,
          sender: given.sender === undefined ? undefined : senderKey(given.sender),
          recipient: parsePhoneNumber(given.recipient) ?? "",
          reason: given.reason ?? "added by an operator",
        }),
    },
    update: {
      schema: Type.Object({ reason: Type.Optional(reason) }),
      toChanges: (given) => present({ reason: given.reason }),
    },
  });
}

const recipient = Type.String({
  minLength: 1,
  maxLength: 40,
  description: "The number to which no SMS is sent, in E.164",
});
const sender = Type.String({
  minLength: 1,
  maxLength: 32,
  description: "The sender it applies to; absent: all of the account",
});
const reason = Type.String({ minLength: 1, maxLength: 255 });

const NO_SENDER = "must name a sender; without one it is any of the account";

const plan: RecordPlan<"optOuts"> = {
  kind: "optOuts",
  path: "opt-outs",
  noun: "opt-out",
  operation: "OptOut",
  filters: { account_id: "accountId", recipient: "recipient", sender: "sender" },
  calledBy: { recipient: "recipient" },
  toSearched: toNumberPart,
  toStored: {
    recipient: (text) => parsePhoneNumber(restorePlus(text)) ?? text,
    sender: senderKey,
  },
  shown: Type.Object({
    account_id: shownFields.account_id,
    ...recipientSchema("recipient", recipient),
    sender: Type.Optional(sender),
    reason,
  }),
  show: toResource,
};

function toResource(optOut: OptOut) {
  return {
    account_id: optOut.accountId,
    ...showRecipient("recipient", optOut.recipient),
    sender: optOut.sender,
    reason: optOut.reason,
  };
}
