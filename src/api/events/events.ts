/** The event feed: the events that webhooks deliver, for clients to fetch, in order and without gaps. */
import Type from "typebox";
import { createErrors } from "../../core/field-errors.ts";
import { toIso } from "../../core/timestamp.ts";
import type { FeedEvent } from "../../core/webhooks/feed-event.ts";
import { toWebhookEvent, toWebhookId } from "../../core/webhooks/webhook-event.ts";
import type { Answer } from "../answer.ts";
import type { AppDeps } from "../app-deps.ts";
import { callerOf } from "../caller.ts";
import type { Call, Endpoint } from "../endpoint.ts";
import { validationFailed } from "../errors.ts";
import { readCount } from "../read-count.ts";
import { NOW, parseCursor, toCursor } from "./event-cursor.ts";
import { createEventWait, type EventWait } from "./event-wait.ts";

const LIMIT = { min: 1, max: 1_000, otherwise: 100 };
const WAIT_SECONDS = { min: 0, max: 30, otherwise: 0 };

type EventDeps = Pick<AppDeps, "clock" | "isDraining"> & { readonly store: Pick<AppDeps["store"], "feed"> };

export function eventEndpoints(deps: EventDeps): readonly Endpoint[] {
  const wait = createEventWait({ ...deps, feed: deps.store.feed });
  return [
    {
      method: "GET",
      path: "/v1/events",
      operation: "listEvents",
      summary: "Read the account's events in order, and wait for the next",
      tag: "Events",
      auth: "api-key",
      waits: true,
      query: QUERY,
      responses: {
        200: { description: "In the order in which they happened.", schema: EventPage },
        400: { description: "`validation failed`: under `after`, `limit` or `wait`." },
      },
      handle: (call) => listEvents(deps, wait, call),
    },
  ];
}

const QUERY = {
  after: Type.Optional(
    Type.String({ description: "`next` of the page before; `now`: what happens from now on; absent: all" }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: LIMIT.min, maximum: LIMIT.max, default: LIMIT.otherwise })),
  wait: Type.Optional(
    Type.Integer({
      minimum: WAIT_SECONDS.min,
      maximum: WAIT_SECONDS.max,
      default: WAIT_SECONDS.otherwise,
      description: "Seconds to wait for an event where there is none yet",
    }),
  ),
};

const Event = Type.Object({
  id: Type.String({ description: "The `webhook-id` of the event: the same on every delivery of it" }),
  type: Type.String({ examples: ["sms.delivered"] }),
  timestamp: Type.String({ format: "date-time", description: "When the event happened" }),
  data: Type.Object(
    {},
    { additionalProperties: true, description: "As in the webhook of this type (`DeliveryEvent`)" },
  ),
});

const EventPage = Type.Object(
  {
    data: Type.Array(Event),
    next: Type.String({ description: "Give it as `after` to go on, also where `data` is empty" }),
  },
  { title: "EventPage" },
);

async function listEvents({ store }: EventDeps, wait: EventWait, call: Call): Promise<Answer> {
  const accountId = callerOf(call).account.id;
  const errors = createErrors();
  const after = await readAfter(store.feed, call.query.get("after"));
  if (after === undefined) errors.add("after", "must be a cursor this feed has given, or `now`");
  const limit = readCount(call.query, { name: "limit", rule: LIMIT, errors });
  const waitMs = readCount(call.query, { name: "wait", rule: WAIT_SECONDS, errors }) * 1_000;
  if (after === undefined || !errors.isEmpty()) throw validationFailed(errors.list());
  const read = () => store.feed.read({ accountId, after, limit });
  const { events, next } =
    waitMs > 0 && call.signal ? await wait({ accountId, waitMs, signal: call.signal }, read) : await read();
  // The key may have been revoked while the request waited.
  if (waitMs > 0) await call.authenticateAgain?.();
  return { status: 200, json: JSON.stringify({ data: events.map(toResource), next: toCursor(next) }) };
}

/**
 * The number to read on from; `undefined` for what is not a cursor of this feed. One beyond the last event comes from
 * another database, or from this one before it was restored from a backup.
 */
async function readAfter(feed: EventDeps["store"]["feed"], text: string | null): Promise<number | undefined> {
  if (text === null) return 0;
  const last = await feed.lastNumber();
  if (text === NOW) return last;
  const number = parseCursor(text);
  return number !== undefined && number <= last ? number : undefined;
}

function toResource(event: FeedEvent) {
  if (event.kind === "message") {
    const { message, entry } = event;
    return { id: toWebhookId(message.id, entry.sequence), ...toWebhookEvent(message, entry) };
  }
  const { id, type, at, data } = event;
  return { id, type, timestamp: toIso(at), data };
}
