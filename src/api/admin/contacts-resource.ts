import Type from "typebox";
import { hasControls } from "../../core/body/text-rules.ts";
import { present } from "../../core/present.ts";
import type { Contact } from "../../core/records/accounts.ts";
import type { Endpoint } from "../endpoint.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { judgeField } from "./draft.ts";
import { givenFields } from "./given-fields.ts";
import { recordEndpoints } from "./record-endpoints.ts";
import type { RecordPlan } from "./record-plan.ts";
import { shownFields } from "./shown-fields.ts";

/** Contacts: the users of an account's applications, to whom devices are registered. */
export function contactEndpoints(deps: AdminDeps): readonly Endpoint[] {
  return recordEndpoints(deps, plan, {
    create: {
      schema: Type.Object({ account_id: givenFields.account_id, external_id: externalId }),
      judge: (draft) => judgeField(draft, "external_id", externalIdProblem),
      toRecord: (given, stamp) => ({ ...stamp, externalId: given.external_id }),
    },
    update: {
      schema: Type.Object({ external_id: Type.Optional(externalId) }),
      clearable: { external_id: "externalId" },
      judge: (draft) => judgeField(draft, "external_id", externalIdProblem),
      toChanges: (given) => present({ externalId: given.external_id }),
    },
    remove: { goesToo: "the devices registered to it" },
  });
}

const externalId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: "The application's own user id; unique within the account",
});

const plan: RecordPlan<"contacts"> = {
  kind: "contacts",
  path: "contacts",
  noun: "contact",
  operation: "Contact",
  idName: "contact_id",
  filters: { account_id: "accountId", external_id: "externalId" },
  calledBy: { external_id: "externalId" },
  shown: Type.Object({
    account_id: shownFields.account_id,
    external_id: Type.Optional(Type.String({ description: "Absent on an anonymous contact" })),
  }),
  show: toResource,
};

function toResource(contact: Contact) {
  return {
    account_id: contact.accountId,
    external_id: contact.externalId,
  };
}

function externalIdProblem(id: string): string | undefined {
  return hasControls(id) ? "must not contain control characters" : undefined;
}
