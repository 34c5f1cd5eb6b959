/** The event feed: the events that webhooks deliver, for clients to fetch, in order and without gaps. */
import Type from "typebox";
import { createErrors } from "../../core/body/field-errors.ts";
import { toIso } from "../../core/time/timestamp.ts";
import type { FeedEvent } from "../../core/webhooks/feed-event.ts";
import { toWebhookEvent, toWebhookId } from "../../core/webhooks/webhook-event.ts";
import type { EventFeed } from "../../store/store.ts";
import type { Answer } from "../answer.ts";
import type { AppDeps } from "../app-deps.ts";
import { callerOf } from "../caller.ts";
import type { Call, Endpoint, LongPoll } from "../endpoint.ts";
import { validationFailed } from "../errors.ts";
import { countSchema, readCount } from "../lists/read-count.ts";
import { createEventCursors, type EventCursors, NOW } from "./event-cursor.ts";
import { DeliveryEvent, ReceivedEvent } from "./event-schemas.ts";
import { createEventWait, type EventWait } from "./event-wait.ts";

const LIMIT = { min: 1, max: 1_000, otherwise: 100 };
const WAIT_SECONDS = { min: 0, max: 30, otherwise: 0 };

type EventDeps = Pick<AppDeps, "clock" | "isLeaving"> & { readonly store: Pick<AppDeps["store"], "feed"> };

export function eventEndpoints(deps: EventDeps): readonly Endpoint[] {
  const { feed } = deps.store;
  const reader = { feed, wait: createEventWait({ ...deps, feed }), cursors: createCursorsOf(feed) };
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
      handle: (call) => listEvents(reader, call),
    },
  ];
}

const QUERY = {
  after: Type.Optional(
    Type.String({ description: "`next` of the page before; `now`: only events from now on; absent: all" }),
  ),
  limit: countSchema(LIMIT),
  wait: countSchema(WAIT_SECONDS, "Seconds to wait for an event if there is none yet"),
};

const id = Type.String({ description: "The `webhook-id` of the event: the same on every delivery of it" });

const Event = Type.Union([
  Type.Object({ id, ...DeliveryEvent.properties }, { title: "FeedDeliveryEvent" }),
  Type.Object({ id, ...ReceivedEvent.properties }, { title: "FeedReceivedEvent" }),
]);

const EventPage = Type.Object(
  {
    data: Type.Array(Event),
    next: Type.String({ description: "Give it as `after` in the next request, also if `data` is empty" }),
  },
  { title: "EventPage" },
);

interface FeedReader {
  readonly feed: EventFeed;
  readonly wait: EventWait;
  readonly cursors: () => Promise<EventCursors>;
}

/** The cursors of a feed, whose key is read once. */
function createCursorsOf(feed: EventFeed): FeedReader["cursors"] {
  let cursors: EventCursors | undefined;
  return async () => (cursors ??= createEventCursors(await feed.cursorKey()));
}

async function listEvents(reader: FeedReader, call: Call): Promise<Answer> {
  const { feed, wait } = reader;
  const accountId = callerOf(call).account.id;
  const errors = createErrors();
  const cursors = await reader.cursors();
  const { signal, inTurn, authenticateAgain } = longPollOf(call);
  const text = call.query.get("after");
  const after = text === null ? 0 : await inTurn(() => readAfter(feed, { cursors, accountId, text }));
  if (after === undefined) errors.add("after", "must be a cursor this feed has given, or `now`");
  const limit = readCount(call.query, { name: "limit", rule: LIMIT, errors });
  const waitMs = readCount(call.query, { name: "wait", rule: WAIT_SECONDS, errors }) * 1_000;
  if (after === undefined || !errors.isEmpty()) throw validationFailed(errors.list());
  const read = () => inTurn(() => feed.read({ accountId, after, limit }));
  const { events, next } = waitMs > 0 ? await wait({ accountId, waitMs, signal }, read) : await read();
  // The key may have been revoked while the request waited.
  if (waitMs > 0) await authenticateAgain();
  return {
    status: 200,
    json: JSON.stringify({ data: events.map(toResource), next: cursors.seal(accountId, next) }),
  };
}

function longPollOf({ longPoll }: Call): LongPoll {
  if (!longPoll) throw new Error("this endpoint is run without what it waits with");
  return longPoll;
}

/**
 * The number to read on from; `undefined` for what is not a cursor of this feed. One beyond the last event comes from
 * another database, or from this one before it was restored from a backup.
 */
async function readAfter(
  feed: EventFeed,
  { cursors, accountId, text }: { cursors: EventCursors; accountId: string; text: string },
): Promise<number | undefined> {
  if (text === NOW) return await feed.lastNumberOf(accountId);
  const number = cursors.open(accountId, text);
  return number !== undefined && number <= (await feed.lastNumber()) ? number : undefined;
}

function toResource(event: FeedEvent) {
  if (event.kind === "message") {
    const { message, entry } = event;
    return { id: toWebhookId(message.id, entry.sequence), ...toWebhookEvent(message, entry) };
  }
  const { id, type, at, data } = event;
  return { id, type, timestamp: toIso(at), data };
}
