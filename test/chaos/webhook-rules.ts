/** Rules for webhooks: they say what the feed says, signed, and in order. */
import { admin, type Peer } from "../admin.ts";
import type { Delivery } from "../fakes/fake-webhook-receiver.ts";
import type { FeedEvent, Request, Shown } from "./model.ts";

export interface WebhookFacts {
  readonly fates: readonly {
    readonly asked: Pick<Request, "body">;
    readonly shown: Pick<Shown, "message_id">;
  }[];
  readonly events: readonly FeedEvent[];
  readonly deliveries: readonly Delivery[];
  readonly attemptsOf: AttemptsOf;
}

/** The attempts to deliver an event, oldest first, as the service shows them. */
type AttemptsOf = (eventId: string) => Promise<readonly Attempt[]>;

interface Attempt {
  /** When it began, by the clock of the processes. */
  readonly at: string;
  /** Of the answer, if there was one. */
  readonly status?: number;
}

export function askAttempts(service: Peer): AttemptsOf {
  return async (id) => (await admin<{ last_attempts: Attempt[] }>(service, `/webhooks/${id}`)).last_attempts;
}

/** No problem here: the clock may leap while a webhook is under way. */
const LEAPT = "the timestamp is too far from now";

export async function problemsOfWebhooks(facts: WebhookFacts): Promise<readonly string[]> {
  const { fates, events, deliveries } = facts;
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
    problems.push(...(await outOfOrder(told, facts)));
  }
  for (const id of byId.keys()) problems.push(`a webhook ${id} is of no event`);
  return problems;
}

/** An event arrives before the previous one of its message only if that one had failed twice, without reaching the receiver. */
async function outOfOrder(
  told: readonly FeedEvent[],
  { deliveries, attemptsOf }: WebhookFacts,
): Promise<readonly string[]> {
  const arrivals = deliveries.map(({ headers }) => idIn(headers));
  const problems: string[] = [];
  for (const [index, { id }] of told.entries()) {
    const before = told[index - 1];
    const arrived = arrivals.indexOf(id);
    if (!before || arrived === -1 || arrivals.lastIndexOf(before.id, arrived) !== -1) continue;
    const [first] = await attemptsOf(id);
    const failures = first ? failuresUntil(first, await attemptsOf(before.id)) : 0;
    if (failures < 2) problems.push(`${id} arrived before ${before.id}, which had failed ${failures} times`);
  }
  return problems;
}

function failuresUntil({ at: end }: Attempt, attempts: readonly Attempt[]): number {
  const isFailure = ({ status = 0 }: Attempt) => status < 200 || status > 299;
  return attempts.filter((attempt) => isFailure(attempt) && Date.parse(attempt.at) <= Date.parse(end)).length;
}

/** The event that a webhook tells of, without its id. */
export function eventIn({ body }: Delivery): FeedEvent {
  return JSON.parse(body) as FeedEvent;
}

function idIn(headers: Delivery["headers"]): string {
  return String(headers["webhook-id"]);
}
