/** Compares what was asked, what the SMSCs received and what the service says, and finds what does not fit. */
import { partReference } from "../../src/core/receipts/short-reference.ts";
import { uuidTime } from "../../src/core/uuid.ts";
import { listAll } from "./client.ts";
import { problemsOfFate } from "./fate-rules.ts";
import { problemsOfFeed } from "./feed-rules.ts";
import type { Account, Asked, Fate, FeedEvent, ShownSms } from "./model.ts";
import { problemsOfRequest, timelineOf, wholeFeed } from "./read-back.ts";
import type { Submitted } from "./smsc.ts";
import { messageIn, problemsOfWebhooks } from "./webhook-rules.ts";
import type { World } from "./world.ts";

/** A text of 450 characters has three segments. */
const MOST_PARTS = 4;

/**
 * `since`: judges what was asked from then on, in Unix milliseconds of the processes' clock. Nothing may have been under way at that
 * moment.
 */
export async function findProblems(world: World, since = 0): Promise<readonly string[]> {
  const problems: string[] = [];
  const isJudged = (messageId: string) => (uuidTime(messageId) ?? since) >= since;
  const judged = (events: readonly FeedEvent[]) => events.filter(({ data }) => isJudged(data.message_id));
  // Only submits until now: the lists read below may not have later ones.
  const submits = submitsSince(world, since);
  const ours = new Set<Submitted>();
  for (const account of world.accounts) {
    const { fates, problems: found } = await readFates(world, { account, since, submits });
    problems.push(...found);
    for (const fate of fates) {
      for (const submit of [...fate.parts.values()].flat()) ours.add(submit);
      const wrong = isTwinned(fate, fates) ? [] : problemsOfFate(fate, world);
      if (wrong.length > 0) problems.push(`${wrong.join("; ")}\n${describe(fate, world)}`);
    }
    const events = judged(await wholeFeed(world, account));
    const read = judged(world.model.feeds.get(account) ?? []);
    problems.push(...problemsOfFeed({ channel: "sms", fates, read, events }));
    const deliveries = world.receivers.get(account)!.deliveries.filter((each) => isJudged(messageIn(each)));
    problems.push(...problemsOfWebhooks({ fates, events, deliveries }));
  }
  for (const submit of submits) if (!ours.has(submit)) problems.push(describeStray(submit));
  return problems;
}

/** Those to numbers of earlier requests are left out. */
function submitsSince({ model, smscs }: World, since: number): readonly Submitted[] {
  const before = model.asked.filter(({ askedAt }) => askedAt < since);
  const numbers = new Set(before.flatMap((asked) => asked.numbers));
  return smscs.flatMap((smsc) => smsc.submits).filter(({ to }) => !numbers.has(to));
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

function describeStray({ to, fate, reference, smsc, atMs, messageId }: Submitted): string {
  const when = new Date(atMs).toISOString();
  return `a submit to ${to} (${fate} ${messageId}, reference ${reference}) at the ${smsc}, ${when}, is of no message`;
}

interface Judged {
  readonly account: Account;
  readonly since: number;
  readonly submits: readonly Submitted[];
}

async function readFates(world: World, { account, since, submits: all }: Judged) {
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

function partsOf(message: ShownSms, submits: readonly Submitted[]): Fate["parts"] {
  const parts = new Map<number, Submitted[]>();
  for (let part = 0; part < MOST_PARTS; part++) {
    const reference = partReference(message.message_id, part);
    const theirs = submits.filter((submit) => submit.reference === reference);
    if (theirs.length > 0)
      parts.set(
        part,
        theirs.toSorted((one, other) => one.atMs - other.atMs),
      );
  }
  return parts;
}

/** What both sides know of a message, to find the cause of a problem. */
function describe({ asked, shown, timeline, parts }: Fate, { fleet }: World): string {
  const submits = [...parts].flatMap(([part, theirs]) =>
    theirs.map(({ atMs, at, smsc, fate, messageId, answeredAtMs, receipts }) => ({
      atMs,
      line: `part ${part} at the ${smsc} (model time ${new Date(at).toISOString()}): ${fate} ${messageId}, ${
        answeredAtMs === undefined ? "not answered" : `answered after ${answeredAtMs - atMs} ms`
      }; receipts ${JSON.stringify(receipts.map(({ state, storedAtMs, tries }) => [state, storedAtMs && storedAtMs - atMs, tries]))}`,
    })),
  );
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
