/** Rules for webhooks: they say what the feed says, signed, and in order. */
import type { Delivery } from "../fakes/fake-webhook-receiver.ts";
import type { FeedEvent, Request, Shown } from "./model.ts";

export interface WebhookFacts {
  readonly fates: readonly {
    readonly asked: Pick<Request, "body">;
    readonly shown: Pick<Shown, "message_id">;
  }[];
  readonly events: readonly FeedEvent[];
  readonly deliveries: readonly Delivery[];
}

/** No problem here: the clock may leap while a webhook is under way. */
const LEAPT = "the timestamp is too far from now";

export function problemsOfWebhooks({ fates, events, deliveries }: WebhookFacts): readonly string[] {
  const problems = deliveries.flatMap(({ problem, headers }) =>
    problem && problem !== LEAPT ? `${idIn(headers)}: ${problem}` : [],
  );
  const byId = Map.groupBy(deliveries, ({ headers }) => idIn(headers));
  const byMessage = Map.groupBy(events, ({ data }) => data.message_id);
  for (const { asked, shown } of fates) {
    const told = byMessage.get(shown.message_id) ?? [];
    const isAsked = asked.body.callback_url !== undefined;
    for (const event of told) {
      const arrived = byId.get(event.id) ?? [];
      byId.delete(event.id);
      if (isAsked && arrived.length === 0) problems.push(`${event.id} never arrived`);
      if (!isAsked && arrived.length > 0) problems.push(`${event.id} arrived, and nobody had asked`);
      const { id: _, ...body } = event;
      const others = arrived.filter((delivery) => !Bun.deepEquals(JSON.parse(delivery.body), body));
      if (others.length > 0)
        problems.push(`${event.id} says ${others[0]?.body}, the feed ${JSON.stringify(body)}`);
    }
    problems.push(...outOfOrder(told, deliveries));
  }
  for (const id of byId.keys()) problems.push(`a webhook ${id} is of no event`);
  return problems;
}

/** An event never arrives before the previous one of its message has arrived at least once. */
function outOfOrder(told: readonly FeedEvent[], deliveries: readonly Delivery[]): readonly string[] {
  const arrivals = deliveries.flatMap(
    ({ headers }) => told.findIndex(({ id }) => id === idIn(headers)) + 1 || [],
  );
  const seen = new Map<number, number>();
  for (const sequence of arrivals) {
    seen.set(sequence, (seen.get(sequence) ?? 0) + 1);
    const before = seen.get(sequence - 1) ?? 0;
    if (sequence > 1 && before === 0) return [`${told[sequence - 1]?.id} arrived before the one before it`];
  }
  return [];
}

/** The event that a webhook tells of, without its id. */
export function eventIn({ body }: Delivery): FeedEvent {
  return JSON.parse(body) as FeedEvent;
}

function idIn(headers: Delivery["headers"]): string {
  return String(headers["webhook-id"]);
}
