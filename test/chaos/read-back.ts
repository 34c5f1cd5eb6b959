/** What the service says in the end of what it accepted. */
import { admin } from "../admin.ts";
import { readFeed } from "./client.ts";
import type { Client, Entry, FeedEvent, Request, Shown } from "./model.ts";
import type { AnyWorld } from "./world.ts";

/**
 * Accepted messages exist. Of a request that was not answered, all messages exist or none; with a key, once at most. `size`: how many
 * messages a request makes.
 */
export function problemsOfRequest(asked: Request, shown: readonly Shown[], size: number): readonly string[] {
  const ids = shown.map(({ message_id }) => message_id);
  const about = `request ${asked.index} (key ${asked.key ?? "none"})`;
  const problems: string[] = [];
  const { answer } = asked;
  if (answer) {
    const promised = new Set(answer.map(({ message_id }) => message_id));
    for (const id of promised)
      if (!ids.includes(id)) problems.push(`${about}: ${id} was accepted, and is not there`);
    if (promised.size !== size) problems.push(`${about}: ${promised.size} messages for ${size}`);
  }
  if (asked.isRefused && ids.length > 0) problems.push(`${about}: refused, and there are ${ids.join()}`);
  const most = asked.key === undefined ? asked.tries : 1;
  if (ids.length % size !== 0 || ids.length > size * most)
    problems.push(`${about}: ${ids.length} messages of ${size}, after ${asked.tries} tries`);
  return problems;
}

export async function wholeFeed<Asking extends Request>(
  { fleet }: AnyWorld<Asking>,
  client: Client,
): Promise<readonly FeedEvent[]> {
  const events: FeedEvent[] = [];
  await readFeed(fleet.some(() => 0)!, client, { after: undefined, events });
  return events;
}

export async function timelineOf<Asking extends Request>(
  { fleet, model }: AnyWorld<Asking>,
  { accountId }: Client,
  { message_id }: Shown,
): Promise<readonly Entry[]> {
  const service = fleet.some(() => 0)!;
  const path = `/messages/${model.channel}/${message_id}/timeline?account_id=${accountId}`;
  return (await admin<{ data: readonly Entry[] }>(service, path)).data;
}
