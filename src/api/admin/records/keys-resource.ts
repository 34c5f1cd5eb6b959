import { createHash } from "node:crypto";
import Type from "typebox";
import { present } from "../../../core/present.ts";
import type { ApiKey } from "../../../core/records/accounts.ts";
import { apiKeyPrefix, makeApiKey } from "../../../core/records/api-key.ts";
import type { Endpoint } from "../../endpoint.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { changeRecord } from "../change-record.ts";
import { accountNamed, readDraft, sealDraft } from "../draft.ts";
import { refuseUnlikeShown } from "../fixed-fields.ts";
import { givenFields } from "../given-fields.ts";
import { showEndpoint, storeNew, updateEndpoint } from "../record-endpoints.ts";
import { listEndpoint } from "../record-list.ts";
import {
  ADMIN_MAX_BYTES,
  adminOnly,
  adminPath,
  bodyOf,
  MISSING,
  type RecordPlan,
  recordOf,
  shownNames,
  shownRecord,
  shownSchema,
} from "../record-plan.ts";
import { shownFields, shownTime } from "../shown-fields.ts";

/** API keys are revoked, never deleted, so that it stays known which key a message was sent with. */
export function keyEndpoints(deps: AdminDeps): readonly Endpoint[] {
  return [
    createKey(deps),
    listEndpoint(deps, plan),
    showEndpoint(deps, plan),
    updateEndpoint(deps, plan, {
      schema: Type.Object({ name: Type.Optional(givenFields.name) }),
      clearable: { name: "name" },
      toChanges: ({ name }) => present({ name }),
    }),
    {
      ...shared,
      method: "POST",
      path: adminPath("keys/{id}/revoke"),
      operation: "revokeKey",
      summary: "Revoke an API key: within a second every process refuses it",
      responses: { 200: { description: "The key, revoked", schema: shownSchema(plan) }, 404: MISSING },
      async handle(call) {
        const revoked = await revoke(deps, await recordOf(deps, "apiKeys", call), call.now);
        return Response.json(await shownRecord(plan, revoked));
      },
    },
    {
      ...shared,
      method: "DELETE",
      path: adminPath("keys/{id}"),
      operation: "deleteKey",
      summary: "Revoke an API key; it stays listed",
      responses: { 204: { description: "Revoked" }, 404: MISSING },
      async handle(call) {
        await revoke(deps, await recordOf(deps, "apiKeys", call), call.now);
        return new Response(null, { status: 204 });
      },
    },
  ];
}

const shared = adminOnly("API keys");

const shown = Type.Object({
  account_id: shownFields.account_id,
  name: Type.Optional(Type.String()),
  prefix: Type.String({ description: "The first 12 characters" }),
  revoked_at: Type.Optional(shownFields.created_at),
});

const plan: RecordPlan<"apiKeys"> = {
  kind: "apiKeys",
  path: "keys",
  noun: "API key",
  operation: "Key",
  idName: "key_id",
  filters: { account_id: "accountId" },
  calledBy: { name: "name", prefix: "prefix" },
  shown,
  show,
  instead: { revoked_at: "cannot be changed: POST /admin/v1/keys/{id}/revoke revokes a key, for good" },
};

function show(key: ApiKey) {
  return {
    account_id: key.accountId,
    name: key.name,
    prefix: key.prefix,
    revoked_at: shownTime(key.revokedAt),
  };
}

const keyBody = Type.Object({
  account_id: givenFields.account_id,
  name: Type.Optional(givenFields.name),
});

function createKey(deps: AdminDeps): Endpoint {
  return {
    ...shared,
    method: "POST",
    path: adminPath("keys"),
    operation: "createKey",
    summary: "Create an API key; it is shown only in this answer",
    request: { schema: keyBody, maxBytes: ADMIN_MAX_BYTES },
    responses: {
      201: {
        description: "Created",
        schema: Type.Object({ ...shownSchema(plan).properties, api_key: Type.String() }),
      },
      409: { description: "The account was deleted meanwhile" },
    },
    async handle(call) {
      const given = bodyOf(call);
      const draft = readDraft(keyBody, given, { shown: shownNames(plan) });
      refuseUnlikeShown(plan, { given, taken: keyBody.properties, errors: draft.errors });
      await accountNamed(deps.store.records, draft.valid.account_id, draft.errors);
      const { account_id: accountId, name } = sealDraft(draft);
      const apiKey = makeApiKey(deps.randomBytes);
      const key: ApiKey = present({
        id: deps.newId(),
        accountId: accountId.toLowerCase(),
        name,
        prefix: apiKeyPrefix(apiKey),
        digest: createHash("sha256").update(apiKey).digest("hex"),
        createdAt: call.now,
      });
      await storeNew(deps, plan, { record: key });
      return Response.json({ ...(await shownRecord(plan, key)), api_key: apiKey }, { status: 201 });
    },
  };
}

/** A key that is revoked already keeps its `revokedAt`. */
function revoke(deps: AdminDeps, current: ApiKey, now: number): Promise<ApiKey> {
  const toChanges = ({ revokedAt }: ApiKey) => (revokedAt === undefined ? { revokedAt: now } : {});
  return changeRecord(deps, plan, { current, toChanges });
}
