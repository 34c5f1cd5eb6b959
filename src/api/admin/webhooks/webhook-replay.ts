import Type from "typebox";
import { present } from "../../../core/present.ts";
import { NOT_A_TIMESTAMP, parseTimestamp } from "../../../core/time/timestamp.ts";
import { callbackProblem } from "../../../core/webhooks/callback-url.ts";
import { NO_HOST, parseHost, type WebhookSelection } from "../../../core/webhooks/webhook-outbox.ts";
import type { Endpoint } from "../../endpoint.ts";
import { conflict, notFound } from "../../errors.ts";
import { NO_CURSOR } from "../../lists/read-cursor.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { accountNamed, type Draft, readDraft, sealDraft } from "../draft.ts";
import { ADMIN_MAX_BYTES, adminOnly, adminPath, bodyOf } from "../record-plan.ts";
import { shownFields } from "../shown-fields.ts";
import { isWebhookCursor, parseWebhookId, shownAttempt, toShownAttempt } from "./webhook-shapes.ts";

/** Delivers events again that were delivered or have failed, and tries a URL. */
export function webhookReplayEndpoints(deps: AdminDeps): readonly Endpoint[] {
  return [replayOne(deps), replayMany(deps), testUrl(deps)];
}

/** Events per transaction, and transactions per request: the caller goes on from `next`. */
const CHUNK = 500;
const MAX_CHUNKS = 100;

const replayed = Type.Object({
  replayed: Type.Integer({ description: "Events that will be delivered again" }),
  next: Type.Optional(
    Type.String({ description: "There are more events: give it as `after` in the next request" }),
  ),
});

function replayOne({ store }: AdminDeps): Endpoint {
  return {
    ...adminOnly("webhooks"),
    method: "POST",
    path: adminPath("webhooks/{id}/replay"),
    operation: "replayWebhook",
    summary: "Deliver an event again, under the same webhook-id and with the same body",
    responses: {
      200: { description: "It will be delivered again", schema: replayed },
      404: { description: "No event with this webhook-id" },
      409: { description: "It is being delivered right now" },
    },
    async handle({ params }) {
      const event = parseWebhookId(params.id ?? "");
      if (!event || !(await store.outbox.attempts(event))) throw notFound();
      if (!(await store.outbox.replay(event))) throw conflict({ id: "is being delivered right now" });
      return Response.json({ replayed: 1 });
    },
  };
}

const time = Type.Optional(Type.String({ format: "date-time", description: "When events happened" }));

const selection = Type.Object({
  account_id: shownFields.account_id,
  host: Type.Optional(Type.String({ minLength: 1 })),
  failed: Type.Optional(Type.Boolean({ description: "Only events that have failed" })),
  waiting: Type.Optional(Type.Boolean({ description: "Only events that wait for their next try" })),
  since: time,
  until: time,
  after: Type.Optional(Type.String()),
});

function replayMany({ store }: AdminDeps): Endpoint {
  return {
    ...adminOnly("webhooks"),
    method: "POST",
    path: adminPath("webhooks/replay"),
    operation: "replayWebhooks",
    summary:
      "Deliver events again that were delivered or have failed, or now that wait for their next try: of a host, of a time, or both",
    request: { schema: selection, maxBytes: ADMIN_MAX_BYTES },
    responses: { 200: { description: "They will be delivered again", schema: replayed } },
    async handle(call) {
      const draft = readDraft(selection, bodyOf(call));
      const wanted = await toSelection({ store }, draft);
      let after = draft.valid.after;
      let count = 0;
      for (let chunks = 0; chunks < MAX_CHUNKS; chunks++) {
        const page = await store.outbox.replayAll(wanted, { limit: CHUNK, ...present({ after }) });
        count += page.replayed;
        after = page.next;
        if (after === undefined) break;
      }
      return Response.json({ replayed: count, next: after });
    },
  };
}

async function toSelection(
  { store }: Pick<AdminDeps, "store">,
  draft: Draft<typeof selection>,
): Promise<WebhookSelection> {
  const { valid, errors } = draft;
  const account = await accountNamed(store.records, valid.account_id, errors);
  const readTime = (field: "since" | "until") => {
    const given = valid[field];
    const at = given === undefined ? undefined : parseTimestamp(given);
    if (given !== undefined && at === undefined) errors.add(field, NOT_A_TIMESTAMP);
    return at;
  };
  const [since, until] = [readTime("since"), readTime("until")];
  if (valid.host === undefined && valid.since === undefined && valid.until === undefined) {
    errors.add("host", "required if there is no since or until");
  }
  // A cursor that is not understood would start from the beginning, and replay everything once more.
  if (valid.after !== undefined && !isWebhookCursor(valid.after)) errors.add("after", NO_CURSOR);
  const host = valid.host === undefined ? undefined : parseHost(valid.host);
  if (valid.host !== undefined && host === undefined) errors.add("host", NO_HOST);
  if (valid.failed && valid.waiting) errors.add("waiting", "not together with failed");
  const { failed, waiting } = sealDraft(draft);
  return {
    accountId: account?.id ?? "",
    ...present({ host, since, until }),
    ...(failed && { state: "failed" as const }),
    ...(waiting && { state: "waiting" as const }),
  };
}

const target = Type.Object({
  account_id: shownFields.account_id,
  url: Type.String({ minLength: 1, maxLength: 2_048, description: "Must start with https://" }),
});

function testUrl({ store, newId, testWebhook }: AdminDeps): Endpoint {
  return {
    ...adminOnly("webhooks"),
    method: "POST",
    path: adminPath("webhooks/test"),
    operation: "testWebhook",
    summary: "Deliver an event of type `webhook.test` to a URL at once, signed with the account's secrets",
    request: { schema: target, maxBytes: ADMIN_MAX_BYTES },
    responses: {
      200: {
        description: "The result",
        schema: Type.Intersect([Type.Object({ id: Type.String(), ok: Type.Boolean() }), shownAttempt]),
      },
    },
    async handle(call) {
      const draft = readDraft(target, bodyOf(call));
      await accountNamed(store.records, draft.valid.account_id, draft.errors);
      const problem = draft.valid.url === undefined ? undefined : callbackProblem(draft.valid.url);
      if (problem !== undefined) draft.errors.add("url", problem);
      const { account_id, url } = sealDraft(draft);
      const id = `evt_test_${newId()}`;
      const attempt = await testWebhook({ accountId: account_id.toLowerCase(), url, id });
      const ok = attempt.status !== undefined && attempt.status >= 200 && attempt.status < 300;
      return Response.json({ id, ok, ...toShownAttempt(attempt) });
    },
  };
}
