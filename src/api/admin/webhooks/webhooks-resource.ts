import Type, { type TSchema } from "typebox";
import { createErrors } from "../../../core/body/field-errors.ts";
import { present } from "../../../core/present.ts";
import { toIso } from "../../../core/time/timestamp.ts";
import { isUuid } from "../../../core/uuid.ts";
import {
  NO_HOST,
  parseHost,
  WEBHOOK_STATES,
  type WebhookRecord,
  type WebhookSelection,
} from "../../../core/webhooks/webhook-outbox.ts";
import type { WebhookList } from "../../../store/store.ts";
import type { Endpoint } from "../../endpoint.ts";
import { notFound, validationFailed } from "../../errors.ts";
import { pageSchema } from "../../lists/answer-page.ts";
import { readTime, timeSchema } from "../../lists/read-time.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { accountOfQuery, accountOfQueryIfAny } from "../draft.ts";
import { ORDERED_PAGE_QUERY, type OrderedPage, readOrderedPage } from "../page.ts";
import { adminOnly, adminPath } from "../record-plan.ts";
import { shownFields } from "../shown-fields.ts";
import {
  isWebhookCursor,
  parseWebhookId,
  shownAttempt,
  shownEvent,
  shownEventWithAttempts,
  toShownAttempt,
  toShownEvent,
} from "./webhook-shapes.ts";

/** Webhooks as operators see them: events, attempts to deliver them, and hosts that are paused. */
export function webhookEndpoints(deps: AdminDeps): readonly Endpoint[] {
  return [listEvents(deps), findEvent(deps), listAttempts(deps), listHosts(deps)];
}

const text = Type.Optional(Type.String());

function listEvents({ store }: AdminDeps): Endpoint {
  return {
    ...adminOnly("webhooks"),
    method: "GET",
    path: adminPath("webhooks"),
    operation: "listWebhooks",
    summary: "List the events of an account that go to callback URLs, or those of one message",
    query: {
      account_id: text,
      message_id: text,
      host: text,
      state: Type.Optional(Type.Enum(WEBHOOK_STATES)),
      since: timeSchema(),
      until: timeSchema(),
      ...ORDERED_PAGE_QUERY,
    } as Readonly<Record<string, TSchema>>,
    responses: {
      200: {
        description: "In order of time, the oldest first unless `order` says otherwise",
        schema: pageSchema(shownEvent, "after"),
      },
    },
    async handle({ query }) {
      const messageId = query.get("message_id")?.toLowerCase();
      if (messageId !== undefined && !isUuid(messageId))
        throw validationFailed({ message_id: "must be a UUID" });
      const filters = readFilters(query);
      const page = readOrderedPage(query, isWebhookCursor);
      if (messageId === undefined) {
        const { id: accountId } = await accountOfQuery(store.records, query);
        const { events, next } = await readEvents({ store }, { ...filters, accountId }, page);
        return Response.json({ data: events.map(toShownEvent), next });
      }
      const account = await accountOfQueryIfAny(store.records, query);
      const events = await store.outbox.ofMessage(messageId);
      const selection = { ...filters, ...(account && { accountId: account.id }) };
      const wanted = events.filter((event) => isSelected(event, selection));
      const sorted = page.order === "newest" ? wanted.toReversed() : wanted;
      return Response.json({ data: sorted.map(toShownEvent) });
    },
  };
}

/** The filters of a list, for the events of one message. */
function isSelected(event: WebhookRecord, selection: Partial<WebhookSelection>): boolean {
  const { accountId, host, state, since, until } = selection;
  if (accountId !== undefined && event.lane.accountId !== accountId) return false;
  if (host !== undefined && event.lane.host !== host) return false;
  if (state !== undefined && event.state !== state) return false;
  if (since !== undefined && event.at < since) return false;
  return until === undefined || event.at < until;
}

/** The most pages of the store that are read for one page of ours: each may hold few of the events that are asked for. */
const MAX_PAGES = 20;

async function readEvents(
  { store }: Pick<AdminDeps, "store">,
  selection: WebhookSelection,
  { limit, order, after: from }: OrderedPage,
): Promise<WebhookList> {
  const events: WebhookRecord[] = [];
  let after = from;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = { order, limit: limit - events.length, ...(after !== undefined && { after }) };
    const found = await store.outbox.list(selection, page);
    events.push(...found.events);
    after = found.next;
    if (after === undefined || events.length === limit) break;
  }
  return { events, ...(after !== undefined && { next: after }) };
}

function findEvent({ store }: AdminDeps): Endpoint {
  return {
    ...adminOnly("webhooks"),
    method: "GET",
    path: adminPath("webhooks/{id}"),
    operation: "findWebhook",
    summary: "Show an event, and the last attempts to deliver it",
    responses: {
      200: { description: "The event", schema: shownEventWithAttempts },
      404: { description: "No event with this webhook-id" },
    },
    async handle({ params }) {
      const key = parseWebhookId(params.id ?? "");
      if (!key) throw notFound();
      const [events, attempts] = await Promise.all([
        store.outbox.ofMessage(key.messageId),
        store.outbox.attempts(key),
      ]);
      const event = events.find(({ sequence }) => sequence === key.sequence);
      if (!event || !attempts) throw notFound();
      return Response.json({ ...toShownEvent(event), last_attempts: attempts.map(toShownAttempt) });
    },
  };
}

function listAttempts({ store }: AdminDeps): Endpoint {
  return {
    ...adminOnly("webhooks"),
    method: "GET",
    path: adminPath("webhooks/{id}/attempts"),
    operation: "listWebhookAttempts",
    summary: "List the last attempts to deliver an event, with the answers",
    responses: {
      200: { description: "Oldest first", schema: Type.Object({ data: Type.Array(shownAttempt) }) },
      404: { description: "No event with this webhook-id" },
    },
    async handle({ params }) {
      const event = parseWebhookId(params.id ?? "");
      const attempts = event && (await store.outbox.attempts(event));
      if (!attempts) throw notFound();
      return Response.json({ data: attempts.map(toShownAttempt) });
    },
  };
}

const shownHost = Type.Object({
  account_id: shownFields.account_id,
  host: Type.String(),
  paused_until: Type.String({ format: "date-time", description: "When a delivery is tried again" }),
  failures: Type.Integer({ description: "Since the last success" }),
  reason: Type.String({ description: "Of the last failure" }),
});

const shownHosts = Type.Object({
  data: Type.Array(shownHost),
  is_delivering: Type.Boolean({
    description:
      "Whether this process delivers webhooks. One without the role `webhooks` does not, and pauses no host",
  }),
});

function listHosts({ pausedWebhookHosts }: AdminDeps): Endpoint {
  return {
    ...adminOnly("webhooks"),
    method: "GET",
    path: adminPath("webhooks/hosts"),
    operation: "listPausedWebhookHosts",
    summary: "List the hosts to which the process that answers has paused deliveries, and why",
    responses: {
      200: { description: "All of them", schema: shownHosts },
    },
    handle() {
      const paused = pausedWebhookHosts();
      const data = (paused ?? []).map(({ accountId, host, until, failures, reason }) => ({
        account_id: accountId,
        host,
        paused_until: toIso(until),
        failures,
        reason,
      }));
      return Response.json({ data, is_delivering: paused !== undefined });
    },
  };
}

type Filters = Omit<WebhookSelection, "accountId">;

/** `host`, `state`, `since` and `until` of a query. */
function readFilters(query: URLSearchParams): Filters {
  const errors = createErrors();
  const since = readTime(query, { name: "since", errors });
  const until = readTime(query, { name: "until", errors });
  const named = query.get("host");
  const host = named === null ? undefined : parseHost(named);
  if (named !== null && host === undefined) errors.add("host", NO_HOST);
  const given = query.get("state");
  const state = WEBHOOK_STATES.find((each) => each === given);
  if (given !== null && !state) errors.add("state", `must be one of ${WEBHOOK_STATES.join(", ")}`);
  if (!errors.isEmpty()) throw validationFailed(errors.list());
  return present({ host, state, since, until });
}
