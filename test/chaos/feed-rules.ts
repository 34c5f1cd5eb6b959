/** Rules for the event feed: it has every event once, in order, and agrees with the timelines and the statuses. */
import { foldRecipients } from "../../src/core/email/email-status.ts";
import type { Part } from "../../src/core/messages/message.ts";
import type { Entry, FeedEvent, Model, Shown } from "./model.ts";

export interface FeedFacts {
  readonly channel: Model["channel"];
  readonly fates: readonly { readonly shown: Shown; readonly timeline: readonly Entry[] }[];
  /** What a reader got that followed its cursor during the run. */
  readonly read: readonly FeedEvent[];
  /** The whole feed, read after the run. */
  readonly events: readonly FeedEvent[];
}

export function problemsOfFeed({ channel, fates, read, events }: FeedFacts): readonly string[] {
  const problems: string[] = [];
  if (idsOf(read).join() !== idsOf(events).join()) problems.push(differenceOf(idsOf(read), idsOf(events)));
  const twice = idsOf(events).filter((id, index, all) => all.indexOf(id) !== index);
  if (twice.length > 0) problems.push(`the feed has twice: ${twice.join()}`);
  const byMessage = Map.groupBy(events, ({ data }) => data.message_id);
  for (const { shown, timeline } of fates) {
    const told = byMessage.get(shown.message_id) ?? [];
    byMessage.delete(shown.message_id);
    const inFeed = told.map(({ data, type }) => `${data.sequence} ${type}`).join();
    const onTimeline = timeline
      .filter(isEvent)
      .map(({ sequence, status }) => `${sequence} ${channel}.${status}`)
      .join();
    const numbers = told.map(({ data }) => data.sequence).join();
    if (numbers !== told.map((_, index) => index + 1).join())
      problems.push(`${shown.message_id}: events ${numbers}`);
    if (inFeed !== onTimeline) problems.push(`${shown.message_id}: feed ${inFeed}, timeline ${onTimeline}`);
    const last = statusTold(channel, told);
    if (last !== shown.status)
      problems.push(`${shown.message_id}: the feed ends with ${last}, it is ${shown.status}`);
  }
  for (const id of byMessage.keys()) problems.push(`the feed tells of ${id}, which is not there`);
  return problems;
}

/** The status that a message has by its events; `undefined` if there are none. */
export function statusTold(channel: Model["channel"], told: readonly FeedEvent[]): string | undefined {
  return channel === "sms" || told.length === 0 ? told.at(-1)?.data.status : foldedStatus(told);
}

/** Of an email: what the last events of its recipients make together. */
function foldedStatus(told: readonly FeedEvent[]): string {
  const last = new Map(told.map(({ data: { recipient, status } }) => [recipient, status]));
  return foldRecipients([...last.values()].map((status) => ({ status }) as Part));
}

function isEvent({ sequence }: Entry): boolean {
  return sequence !== undefined;
}

function idsOf(events: readonly FeedEvent[]): readonly string[] {
  return events.map(({ id }) => id);
}

function differenceOf(read: readonly string[], all: readonly string[]): string {
  const place = all.findIndex((id, index) => read[index] !== id);
  const missed = all.filter((id) => !read.includes(id));
  const more = read.filter((id) => !all.includes(id));
  return `the reader got ${read.length} of ${all.length} events: other than the feed from ${place} on, missed ${missed.join() || "none"}, more ${more.join() || "none"}`;
}
