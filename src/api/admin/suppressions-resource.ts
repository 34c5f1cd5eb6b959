import Type from "typebox";
import type { Suppression } from "../../core/accounts.ts";
import { parseEmailAddress } from "../../core/email-address.ts";
import type { ErrorCollector } from "../../core/field-errors.ts";
import { present } from "../../core/present.ts";
import { toIso } from "../../core/timestamp.ts";
import type { Endpoint } from "../endpoint.ts";
import type { AdminDeps } from "./admin-deps.ts";
import {
  createEndpoint,
  deleteEndpoint,
  listEndpoint,
  showEndpoint,
  updateEndpoint,
} from "./record-endpoints.ts";
import type { RecordPlan } from "./record-plan.ts";
import { givenFields, shownFields } from "./shown-fields.ts";

export function suppressionEndpoints(deps: AdminDeps): readonly Endpoint[] {
  return [
    createEndpoint(deps, plan, {
      schema: Type.Object({
        account_id: givenFields.account_id,
        email,
        reason: Type.Optional(reason),
      }),
      judge: ({ sound, errors }) => judge(sound.email, errors),
      toRecord: (given, { id, now }) => ({
        id,
        accountId: given.account_id.toLowerCase(),
        email: given.email.toLowerCase(),
        reason: given.reason ?? "added by an operator",
        createdAt: now,
      }),
    }),
    listEndpoint(deps, plan),
    showEndpoint(deps, plan),
    updateEndpoint(deps, plan, {
      schema: Type.Object({ reason: Type.Optional(reason) }),
      toChanges: (given) => present({ reason: given.reason }),
    }),
    deleteEndpoint(deps, plan),
  ];
}

const email = Type.String({ minLength: 1, maxLength: 254, description: "Whom no email goes to any more" });
const reason = Type.String({ minLength: 1, maxLength: 255 });

const plan: RecordPlan<"suppressions"> = {
  kind: "suppressions",
  path: "suppressions",
  noun: "suppression",
  operation: "Suppression",
  idName: "suppression_id",
  filters: { account_id: "accountId", email: "email" },
  shown: Type.Object({
    id: shownFields.id,
    account_id: shownFields.account_id,
    email,
    reason,
    created_at: shownFields.created_at,
  }),
  show: toResource,
};

function toResource(suppression: Suppression) {
  return {
    id: suppression.id,
    account_id: suppression.accountId,
    email: suppression.email,
    reason: suppression.reason,
    created_at: toIso(suppression.createdAt),
  };
}

function judge(address: string | undefined, errors: ErrorCollector): void {
  if (address !== undefined && !parseEmailAddress(address)) {
    errors.add("email", "must be an email address");
  }
}
