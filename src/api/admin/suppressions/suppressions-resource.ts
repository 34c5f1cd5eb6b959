import Type from "typebox";
import { parseEmailAddress } from "../../../core/email/email-address.ts";
import { present } from "../../../core/present.ts";
import type { Suppression } from "../../../core/records/accounts.ts";
import { addressKey } from "../../../core/suppressions/address-key.ts";
import { SUPPRESSION_REASONS } from "../../../core/suppressions/suppression.ts";
import { NOT_A_TIMESTAMP, parseTimestamp } from "../../../core/time/timestamp.ts";
import type { Endpoint } from "../../endpoint.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { judgeField } from "../draft.ts";
import { givenFields } from "../given-fields.ts";
import { recordEndpoints } from "../record-endpoints.ts";
import type { RecordPlan } from "../record-plan.ts";
import { shownFields, shownTime } from "../shown-fields.ts";
import { recipientSchema, showRecipient } from "./erased-fields.ts";

/** Suppressions: the addresses to which an account's emails are not sent. */
export function suppressionEndpoints(deps: AdminDeps): readonly Endpoint[] {
  return recordEndpoints(deps, suppressionPlan, {
    create: {
      schema: Type.Object({
        account_id: givenFields.account_id,
        email,
        reason: Type.Optional(reason),
        source: Type.Optional(source),
        expires_at: Type.Optional(expiresAt),
      }),
      judge(draft) {
        judgeField(draft, "email", (text) => (parseEmailAddress(text) ? undefined : NOT_AN_ADDRESS));
        judgeField(draft, "expires_at", timeProblem);
      },
      toRecord: (given, stamp) => ({
        ...stamp,
        email: addressKey(given.email),
        reason: given.reason ?? "manual",
        ...present({ source: given.source, expiresAt: toMs(given.expires_at) }),
      }),
    },
    update: {
      schema: Type.Object({
        reason: Type.Optional(reason),
        source: Type.Optional(source),
        expires_at: Type.Optional(expiresAt),
      }),
      clearable: { source: "source", expires_at: "expiresAt" },
      judge: (draft) => judgeField(draft, "expires_at", timeProblem),
      toChanges: ({ reason, source, expires_at }) => present({ reason, source, expiresAt: toMs(expires_at) }),
    },
  });
}

const email = Type.String({
  minLength: 1,
  maxLength: 254,
  description: "The address to which no email is sent",
});
const reason = Type.Enum(SUPPRESSION_REASONS, { description: "Absent: `manual`" });
const source = Type.String({
  minLength: 1,
  maxLength: 255,
  description: "Why it is on the list: the id of a message, or a text",
});
const expiresAt = Type.String({ format: "date-time", description: "When it ends by itself; absent: never" });

export const suppressionPlan: RecordPlan<"suppressions"> = {
  kind: "suppressions",
  path: "suppressions",
  noun: "suppression",
  operation: "Suppression",
  idName: "suppression_id",
  filters: { account_id: "accountId", email: "email" },
  calledBy: { email: "email" },
  toStored: { email: (text) => text.toLowerCase() },
  shown: Type.Object({
    account_id: shownFields.account_id,
    ...recipientSchema("email", email),
    reason,
    source: Type.Optional(source),
    expires_at: Type.Optional(expiresAt),
  }),
  show: toResource,
};

function toResource(suppression: Suppression) {
  return {
    account_id: suppression.accountId,
    ...showRecipient("email", suppression.email),
    reason: suppression.reason,
    source: suppression.source,
    expires_at: shownTime(suppression.expiresAt),
  };
}

function toMs(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseTimestamp(text);
}

function timeProblem(text: string): string | undefined {
  return parseTimestamp(text) === undefined ? NOT_A_TIMESTAMP : undefined;
}

const NOT_AN_ADDRESS = "must be an email address";
