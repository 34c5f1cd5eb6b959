import Type, { type Static, type TObject } from "typebox";
import { dltIdProblem } from "../../core/dlt/dlt-id.ts";
import { HEADER_TYPES } from "../../core/dlt/dlt-registry.ts";
import { present } from "../../core/present.ts";
import type { AccountMode } from "../../core/records/accounts.ts";
import type { Endpoint } from "../endpoint.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { type Draft, judgeField } from "./draft.ts";
import { givenFields } from "./given-fields.ts";
import { recordEndpoints } from "./record-endpoints.ts";
import type { RecordPlan } from "./record-plan.ts";
import { shownFields } from "./shown-fields.ts";

/** Senders: the sender ids (for Indian numbers, DLT headers) that an account may use. */
export function senderEndpoints(deps: AdminDeps): readonly Endpoint[] {
  return recordEndpoints(deps, plan, {
    create: {
      schema: Type.Object({ account_id: givenFields.account_id, sender_id: senderId, ...optional }),
      judge: (draft, account) => judge(draft, account?.mode),
      toRecord: (given, stamp) => ({
        ...stamp,
        senderId: given.sender_id,
        isDefault: false,
        ...toFields(given),
      }),
    },
    update: {
      schema: changes,
      clearable: {
        dlt_entity_id: "dltEntityId",
        linked_dlt_template_ids: "linkedDltTemplateIds",
        header_type: "headerType",
        status: "status",
      },
      judge: (draft, _current, account) => judge(draft, account?.mode),
      toChanges: (given) => ({ ...present({ senderId: given.sender_id }), ...toFields(given) }),
    },
  });
}

/**
 * A number of 3 to 15 digits, or a name of up to 11 characters (3GPP TS 23.040 §9.1.2.5 leaves room for 11): those that providers
 * take, which are in ASCII and GSM-7 alike.
 */
export function senderIdProblem(id: string): string | undefined {
  if (/^\+?\d{3,15}$/.test(id)) return undefined;
  const isName = /^[A-Za-z0-9][A-Za-z0-9 ._&+-]{0,10}$/.test(id) && /[A-Za-z]/.test(id) && !id.endsWith(" ");
  return isName
    ? undefined
    : "must be 3 to 15 digits, or at most 11 letters, digits, blanks and characters of `._-&+`, with a letter among them";
}

const senderId = Type.String({
  minLength: 1,
  maxLength: 16,
  description: "The header as registered, without the operator's prefix and suffix",
});

const optional = {
  dlt_entity_id: givenFields.dlt_entity_id,
  linked_dlt_template_ids: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      maxItems: 1000,
      description: "DLT template ids the header is linked to; absent: any of its entity",
    }),
  ),
  header_type: Type.Optional(
    Type.Enum(HEADER_TYPES, { type: "string", description: "What the header is registered for" }),
  ),
  status: givenFields.status,
  is_default: Type.Optional(
    Type.Boolean({ description: "Used when neither request nor template names one" }),
  ),
};

const changes = Type.Object({ sender_id: Type.Optional(senderId), ...optional });

const plan: RecordPlan<"senders"> = {
  kind: "senders",
  path: "senders",
  noun: "sender",
  operation: "Sender",
  filters: { account_id: "accountId" },
  calledBy: { sender_id: "senderId" },
  shown: Type.Object({
    account_id: shownFields.account_id,
    sender_id: senderId,
    ...optional,
    is_default: Type.Boolean(),
  }),
  show: (sender) => ({
    account_id: sender.accountId,
    sender_id: sender.senderId,
    dlt_entity_id: sender.dltEntityId,
    linked_dlt_template_ids: sender.linkedDltTemplateIds,
    header_type: sender.headerType,
    status: sender.status,
    is_default: sender.isDefault,
  }),
};

function toFields(given: Static<TObject<typeof optional>>) {
  return present({
    dltEntityId: given.dlt_entity_id,
    linkedDltTemplateIds: given.linked_dlt_template_ids,
    headerType: given.header_type,
    status: given.status,
    isDefault: given.is_default,
  });
}

function judge(draft: Draft<typeof changes>, mode: AccountMode | undefined): void {
  judgeField(draft, "sender_id", senderIdProblem);
  if (mode === undefined) return;
  judgeField(draft, "dlt_entity_id", (id) => dltIdProblem(id, mode));
  const { valid, errors } = draft;
  const field = "linked_dlt_template_ids";
  const linked = valid.linked_dlt_template_ids ?? [];
  linked.forEach((id, index) => {
    const reason = id === undefined ? undefined : dltIdProblem(id, mode);
    if (reason) errors.addEntry(field, { index, total: linked.length, at: `${field}.${index}`, reason });
  });
}
