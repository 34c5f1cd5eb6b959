import Type, { type Static, type TObject } from "typebox";
import { dltIdProblem } from "../../../core/dlt/dlt-id.ts";
import { present } from "../../../core/present.ts";
import type { AccountMode, DltEntity } from "../../../core/records/accounts.ts";
import type { Endpoint } from "../../endpoint.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { type Draft, judgeField } from "../draft.ts";
import { givenFields } from "../given-fields.ts";
import { recordEndpoints } from "../record-endpoints.ts";
import type { RecordPlan } from "../record-plan.ts";
import { shownFields } from "../shown-fields.ts";

/** DLT entities: the businesses that an account sends for, as registered on an Indian DLT portal. */
export function dltEntityEndpoints(deps: AdminDeps): readonly Endpoint[] {
  return recordEndpoints(deps, plan, {
    create: {
      schema: Type.Object({ account_id: givenFields.account_id, entity_id: entityId, ...optional }),
      judge: (draft, account) => judge(draft, account?.mode),
      toRecord: (given, stamp) => ({ ...stamp, entityId: given.entity_id, ...toFields(given) }),
    },
    update: {
      schema: changes,
      clearable: {
        name: "name",
        status: "status",
        whitelisted_urls: "whitelistedUrls",
        callback_numbers: "callbackNumbers",
      },
      judge: (draft, _current, account) => judge(draft, account?.mode),
      toChanges: (given) => present({ entityId: given.entity_id, ...toFields(given) }),
    },
  });
}

const entityId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "As the DLT portal gave it, usually 19 digits",
});

const NO_BLANKS = "^\\S+$";
const CALLABLE = "^\\+?[0-9][0-9 -]+$";

const optional = {
  name: Type.Optional(givenFields.name),
  status: givenFields.status,
  whitelisted_urls: Type.Optional(
    Type.Array(
      Type.String({ minLength: 1, maxLength: 500, pattern: NO_BLANKS, examples: ["https://example.com/"] }),
      {
        maxItems: 1000,
        description:
          "Beginnings of the links that are registered; values of `{#url#}` must begin with one. Absent: not known",
      },
    ),
  ),
  callback_numbers: Type.Optional(
    Type.Array(Type.String({ minLength: 3, maxLength: 20, pattern: CALLABLE, examples: ["1800 123 4567"] }), {
      maxItems: 1000,
      description:
        "Call-back numbers that are registered; values of `{#cbn#}` must be one. Absent: not known",
    }),
  ),
};

const changes = Type.Object({ entity_id: Type.Optional(entityId), ...optional });

const plan: RecordPlan<"dltEntities"> = {
  kind: "dltEntities",
  path: "dlt-entities",
  noun: "DLT entity",
  operation: "DltEntity",
  filters: { account_id: "accountId", entity_id: "entityId" },
  calledBy: { entity_id: "entityId", name: "name" },
  shown: Type.Object({
    account_id: shownFields.account_id,
    entity_id: entityId,
    ...optional,
  }),
  show: (entity) => ({
    account_id: entity.accountId,
    entity_id: entity.entityId,
    name: entity.name,
    status: entity.status,
    whitelisted_urls: entity.whitelistedUrls,
    callback_numbers: entity.callbackNumbers,
  }),
};

function toFields(given: Static<TObject<typeof optional>>): Partial<DltEntity> {
  return present({
    name: given.name,
    status: given.status,
    whitelistedUrls: given.whitelisted_urls,
    callbackNumbers: given.callback_numbers,
  });
}

function judge(draft: Draft<typeof changes>, mode: AccountMode | undefined): void {
  judgeField(draft, "entity_id", (id) => mode && dltIdProblem(id, mode));
}
