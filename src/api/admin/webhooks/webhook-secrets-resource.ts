import Type from "typebox";
import { createErrors } from "../../../core/body/field-errors.ts";
import { MINUTE_MS } from "../../../core/time/durations.ts";
import { toIso } from "../../../core/time/timestamp.ts";
import type { RandomBytes } from "../../../core/uuid.ts";
import type { WebhookSecret } from "../../../store/store.ts";
import type { Endpoint } from "../../endpoint.ts";
import { conflict, validationFailed } from "../../errors.ts";
import { readTime, timeSchema } from "../../lists/read-time.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { accountOfQuery, noSuchAccount } from "../draft.ts";
import { adminOnly, adminPath } from "../record-plan.ts";
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
      summary: "Create a new secret; the previous one stays valid until the next rotation",
      query: {
        ...shared.query,
        newest: timeSchema(
          "`created_at` of the newest secret you know; required within a minute of another rotation",
        ),
      },
      responses: {
        ...shared.responses,
        409: {
          description:
            "There is a newer secret than `newest`, or no `newest` within a minute of another rotation",
        },
      },
      async handle({ query, now: createdAt }) {
        const { id } = await accountOfQuery(records, query);
        const newest = readNewest(query) ?? newestToRetire(await records.webhookSecrets(id), createdAt);
        const secret = { secret: makeWebhookSecret(deps.randomBytes), createdAt };
        const isAdded = await records.addWebhookSecret(id, secret, newest);
        // Since it was found it may have been deleted.
        if (isAdded === undefined) throw noSuchAccount();
        if (!isAdded) throw conflict({ newest: OVERTAKEN });
        return answer(deps, id);
      },
    },
  ];
}

function readNewest(query: URLSearchParams): number | undefined {
  const errors = createErrors();
  const newest = readTime(query, { name: "newest", errors });
  if (!errors.isEmpty()) throw validationFailed(errors.list());
  return newest;
}

/** Two operators who mean the same rotation mostly do not hit the same moment. */
const SAME_ROTATION_MS = MINUTE_MS;

/**
 * When the newest secret was made. Throws if that was just now, and by a rotation, which another would make useless. One
 * that seems to have been made later than now was not made just now: the clock has been set back.
 */
function newestToRetire([newest, previous]: readonly WebhookSecret[], now: number): number | undefined {
  if (!newest || !previous || Math.abs(now - newest.createdAt) >= SAME_ROTATION_MS) return newest?.createdAt;
  const seconds = Math.max(0, Math.round((now - newest.createdAt) / 1_000));
  throw conflict({
    newest: `the newest secret is only ${seconds} s old: use that one, since a further rotation retires what receivers may still have. If another is really meant, name it here: ${toIso(newest.createdAt)}`,
  });
}

const OVERTAKEN =
  "another rotation has made a secret in between: use that one, since a further one retires what receivers may still have";

/** Standard Webhooks 1.0.0: `whsec_` and the base64 of 24 to 64 octets. */
export function makeWebhookSecret(randomBytes: RandomBytes): string {
  return `whsec_${Buffer.from(randomBytes(32)).toString("base64")}`;
}

const shared = {
  ...adminOnly("webhooks"),
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
