import Type from "typebox";
import { toIso } from "../../../core/timestamp.ts";
import type { RandomBytes } from "../../../core/uuid.ts";
import type { Endpoint } from "../../endpoint.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { accountOfQuery } from "../draft.ts";
import { adminPath } from "../record-plan.ts";
import { shownFields } from "../shown-fields.ts";

/** The secrets that sign an account's webhooks. Shown in full: receivers need them to check signatures. */
export function webhookSecretEndpoints(deps: AdminDeps): readonly Endpoint[] {
  const { records } = deps.store;
  return [
    {
      ...shared,
      method: "GET",
      path: adminPath("webhooks/secret"),
      operation: "getWebhookSecrets",
      summary: "Show the secrets that sign an account's webhooks, newest first",
      handle: async ({ query }) => answer(deps, (await accountOfQuery(records, query)).id),
    },
    {
      ...shared,
      method: "POST",
      path: adminPath("webhooks/secret/rotate"),
      operation: "rotateWebhookSecret",
      summary: "Make a new secret; the one before stays valid beside it until the next rotation",
      async handle({ query, now }) {
        const { id } = await accountOfQuery(records, query);
        await records.addWebhookSecret(id, makeWebhookSecret(deps.randomBytes), now);
        return answer(deps, id);
      },
    },
  ];
}

/** Standard Webhooks 1.0.0: `whsec_` and the base64 of 24 to 64 octets. */
export function makeWebhookSecret(randomBytes: RandomBytes): string {
  return `whsec_${Buffer.from(randomBytes(32)).toString("base64")}`;
}

const shared = {
  auth: "admin",
  tag: "Admin: webhooks",
  query: { account_id: Type.String() },
  responses: {
    200: {
      description: "The secrets in use",
      schema: Type.Object({
        account_id: shownFields.account_id,
        secrets: Type.Array(Type.Object({ secret: Type.String(), created_at: shownFields.created_at })),
      }),
    },
  },
} as const;

async function answer(deps: AdminDeps, accountId: string): Promise<Response> {
  const secrets = await deps.store.records.webhookSecrets(accountId);
  const shown = secrets.map(({ secret, createdAt }) => ({ secret, created_at: toIso(createdAt) }));
  return Response.json({ account_id: accountId, secrets: shown });
}
