/** Compares what was asked, what the providers received and what the service says, and finds what does not fit. */
import { uuidTime } from "../../src/core/uuid.ts";
import { listAll } from "./client.ts";
import { problemsOfFate, type Rule, submitsOf } from "./fate-rules.ts";
import { problemsOfFeed } from "./feed-rules.ts";
import {
  type Account,
  type Asked,
  type Fate,
  type FeedEvent,
  type HandOver,
  isReceived,
  type ShownSms,
} from "./model.ts";
import { problemsOfRequest, timelineOf, wholeFeed } from "./read-back.ts";
import { askAttempts, eventIn, problemsOfWebhooks } from "./webhook-rules.ts";
import type { SmsWorld } from "./world.ts";

interface Judging {
  /**
   * Judges what was asked from then on, in Unix milliseconds of the processes' clock. Nothing may have been under way at that
   * moment.
   */
  readonly since?: number;
  /** Rules that hold for this run, beside those that always do. */
  readonly rules?: readonly Rule[];
}

export async function findProblems(
  world: SmsWorld,
  { since = 0, rules = [] }: Judging = {},
): Promise<readonly string[]> {
  const problems: string[] = [];
  const attemptsOf = askAttempts(world.fleet.some(() => 0)!);
  const isJudged = (messageId: string) => (uuidTime(messageId) ?? since) >= since;
  // What handsets write has rules of its own.
  const isOurs = (event: FeedEvent) => !isReceived(event) && isJudged(event.data.message_id);
  const judged = (events: readonly FeedEvent[]) => events.filter(isOurs);
  // Only submits until now: the lists read below may not have later ones.
  const submits = submitsSince(world, since);
  const ours = new Set<HandOver>();
  for (const account of world.accounts) {
    const { fates, problems: found } = await readFates(world, { account, since, submits });
    problems.push(...found);
    for (const fate of fates) {
      for (const submit of submitsOf(fate)) ours.add(submit);
      const wrong = isTwinned(fate, fates) ? [] : problemsOfFate(fate, world, rules);
      if (wrong.length > 0) problems.push(`${wrong.join("; ")}\n${describe(fate, world)}`);
    }
    const events = judged(await wholeFeed(world, account));
    const read = judged(world.model.feeds.get(account) ?? []);
    problems.push(...problemsOfFeed({ channel: "sms", fates, read, events }));
    const deliveries = world.receivers.get(account)!.deliveries.filter((each) => isOurs(eventIn(each)));
    problems.push(...(await problemsOfWebhooks({ fates, events, deliveries, attemptsOf })));
  }
  for (const submit of submits) if (!ours.has(submit)) problems.push(describeStray(submit));
  return problems;
}

/** Those to numbers of earlier requests are left out. */
function submitsSince({ model, handOvers }: SmsWorld, since: number): readonly HandOver[] {
  const before = model.asked.filter(({ askedAt }) => askedAt < since);
  const numbers = new Set(before.flatMap((asked) => asked.numbers));
  return handOvers().filter(({ to }) => !numbers.has(to));
}

/** Whether another message to the same number has the same reference of 16 bits: nobody can tell their submits apart. */
function isTwinned({ shown, parts }: Fate, fates: readonly Fate[]): boolean {
  return fates.some(
    (other) =>
      other.shown.to === shown.to &&
      other.shown.message_id !== shown.message_id &&
      [...parts.values()].some(([first]) => first && [...other.parts.values()].flat().includes(first)),
  );
}

function describeStray({ to, fate, peer, atMs, messageId }: HandOver): string {
  const when = new Date(atMs).toISOString();
  return `a submit to ${to} (${fate} ${messageId}) at the ${peer}, ${when}, is of no message`;
}

interface Judged {
  readonly account: Account;
  readonly since: number;
  readonly submits: readonly HandOver[];
}

async function readFates(world: SmsWorld, { account, since, submits: all }: Judged) {
  const service = world.fleet.some(() => 0)!;
  const listed = await listAll<ShownSms>(world.model, service, { account });
  const shown = listed.filter(({ created_at }) => Date.parse(created_at) >= since);
  const byRequest = Map.groupBy(shown, ({ metadata }) => metadata?.request ?? -1);
  const asked = world.model.asked.filter((each) => each.account === account && each.askedAt >= since);
  const problems = asked.flatMap((each) => problemsOfSms(each, byRequest.get(each.index) ?? []));
  for (const index of byRequest.keys())
    if (!asked.some((each) => each.index === index))
      problems.push(`a message is of request ${index}: there is none`);
  const submits = Map.groupBy(all, ({ to }) => to);
  const fates: Fate[] = [];
  for (const message of shown) {
    const request = world.model.asked[message.metadata?.request ?? -1];
    if (!request) continue;
    const parts = partsOf(message, submits.get(message.to) ?? []);
    fates.push({
      asked: request,
      shown: message,
      timeline: await timelineOf(world, account, message),
      parts,
    });
  }
  return { fates, problems };
}

/** As many messages as it has numbers, and for these. */
function problemsOfSms(asked: Asked, shown: readonly ShownSms[]): readonly string[] {
  const size = asked.account.sendsOnce ? new Set(asked.numbers).size : asked.numbers.length;
  const answered = asked.answer?.map(({ to }) => to).join();
  const isWrong = answered !== undefined && answered !== asked.numbers.join();
  return [
    ...problemsOfRequest(asked, shown, size),
    ...(isWrong ? [`request ${asked.index}: answered for ${answered}`] : []),
  ];
}

/** What is all of the message is each of the parts that others are. */
function partsOf({ message_id }: ShownSms, submits: readonly HandOver[]): Fate["parts"] {
  const byPart = Map.groupBy(submits, (submit) => submit.partOf(message_id));
  byPart.delete(undefined);
  const whole = byPart.get("whole") ?? [];
  byPart.delete("whole");
  if (byPart.size === 0 && whole.length > 0) byPart.set(0, []);
  return new Map(
    [...byPart].map(([part, theirs]) => [
      Number(part),
      [...theirs, ...whole].toSorted((one, other) => one.atMs - other.atMs),
    ]),
  );
}

/** What both sides know of a message, to find the cause of a problem. */
function describe(given: Fate, { fleet }: SmsWorld): string {
  const { asked, shown, timeline } = given;
  const submits = submitsOf(given).map((submit) => ({
    atMs: submit.atMs,
    line: lineOf(submit, shown.message_id),
  }));
  const from = (submits[0]?.atMs ?? 0) - 2_000;
  const until = (submits.at(-1)?.atMs ?? 0) + 3_000;
  const faults = fleet.faults.flatMap(({ atMs, what }) =>
    atMs >= from && atMs <= until ? [{ atMs, line: `* ${what}` }] : [],
  );
  const happened = [...submits, ...faults].toSorted((one, other) => one.atMs - other.atMs);
  const lines = [
    `${shown.message_id} to ${shown.to} of request ${asked.index} (${asked.account.name}), created ${shown.created_at}, is ${shown.status}`,
    ...timeline.map((entry) => JSON.stringify(entry)),
    ...happened.map(({ atMs, line }) => `${new Date(atMs).toISOString().slice(14)} ${line}`),
  ];
  return lines.map((line) => `    ${line}`).join("\n");
}

function lineOf(submit: HandOver, message: string): string {
  const { atMs, at, peer, fate, messageId, answeredAtMs, receipts } = submit;
  const answered = answeredAtMs === undefined ? "not answered" : `answered after ${answeredAtMs - atMs} ms`;
  const told = receipts.map(({ says, storedAtMs, tries }) => [says, storedAtMs && storedAtMs - atMs, tries]);
  return `part ${submit.partOf(message)} at the ${peer} (model time ${new Date(at).toISOString()}): ${fate} ${messageId}, ${answered}; receipts ${JSON.stringify(told)}`;
}
