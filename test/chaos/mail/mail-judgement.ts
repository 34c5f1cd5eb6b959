/** Compares what was asked, what the relays received and what the service says, and finds what does not fit. */
import { listAll } from "../client.ts";
import { problemsOfFeed } from "../feed-rules.ts";
import type { FeedEvent, Shown } from "../model.ts";
import { problemsOfRequest, timelineOf, wholeFeed } from "../read-back.ts";
import { askAttempts, problemsOfWebhooks } from "../webhook-rules.ts";
import type { MailFate, Sender } from "./mail-model.ts";
import { problemsOfMail } from "./mail-rules.ts";
import type { MailWorld } from "./mail-world.ts";

export async function findMailProblems(world: MailWorld): Promise<readonly string[]> {
  const problems: string[] = [];
  const attemptsOf = askAttempts(world.fleet.some(() => 0)!);
  const known = new Set<string>();
  for (const account of world.accounts) {
    const events = await wholeFeed(world, account);
    const { fates, problems: found } = await readFates(world, account, events);
    problems.push(...found);
    for (const fate of fates) {
      known.add(fate.shown.message_id);
      const wrong = problemsOfMail(fate, world);
      if (wrong.length > 0) problems.push(`${wrong.join("; ")}\n${describe(fate, world)}`);
    }
    const read = world.model.feeds.get(account) ?? [];
    problems.push(...problemsOfFeed({ channel: "email", fates, read, events }));
    const { deliveries } = world.receivers.get(account)!;
    problems.push(...(await problemsOfWebhooks({ fates, events, deliveries, attemptsOf })));
  }
  for (const { messageId, to, subject, fate } of world.relays.flatMap(({ mails }) => mails))
    if (!known.has(messageId))
      problems.push(`a mail ${messageId} "${subject}" (${fate}) to ${to.join()} is of no message`);
  return problems;
}

async function readFates(world: MailWorld, account: Sender, events: readonly FeedEvent[]) {
  const { model, fleet, relays } = world;
  const shown = await listAll<Shown>(model, fleet.some(() => 0)!, { account });
  const byRequest = Map.groupBy(shown, ({ metadata }) => metadata?.request ?? -1);
  const asked = model.asked.filter((each) => each.account === account);
  const problems = asked.flatMap((each) => problemsOfRequest(each, byRequest.get(each.index) ?? [], 1));
  const byMessage = Map.groupBy(events, ({ data }) => data.message_id);
  const mails = Map.groupBy(
    relays.flatMap((relay) => relay.mails),
    ({ messageId }) => messageId,
  );
  const fates: MailFate[] = [];
  for (const message of shown) {
    const request = model.asked[message.metadata?.request ?? -1];
    if (!request || request.account !== account) {
      problems.push(`${message.message_id} is of a request that was not made`);
      continue;
    }
    const offers = relays.flatMap((relay) => relay.offers);
    fates.push({
      asked: request,
      shown: message,
      timeline: await timelineOf(world, account, message),
      events: byMessage.get(message.message_id) ?? [],
      mails: (mails.get(message.message_id) ?? []).toSorted((one, other) => one.atMs - other.atMs),
      offers: offers.filter(({ address }) => request.addresses.includes(address)),
    });
  }
  return { fates, problems };
}

/** What all sides know of an email, to find the cause of a problem. */
function describe({ asked, shown, timeline, events, mails, offers }: MailFate, { fleet }: MailWorld): string {
  const said = [
    ...offers.map(({ atMs, relay, address, fate }) => ({
      atMs,
      line: `${address} at the ${relay} relay: ${fate}`,
    })),
    ...mails.map(({ atMs, relay, to, fate, isComplete, answeredAtMs, report }) => ({
      atMs,
      line: `mail to ${to.join()} at the ${relay} relay: ${fate}, ${isComplete ? "whole" : "without its end"}, ${
        answeredAtMs === undefined ? "not answered" : `answered after ${answeredAtMs - atMs} ms`
      }; ${JSON.stringify(report)}`,
    })),
  ];
  const [from, until] = [
    Math.min(...said.map(({ atMs }) => atMs)),
    Math.max(...said.map(({ atMs }) => atMs)),
  ];
  const faults = fleet.faults.flatMap(({ atMs, what }) =>
    atMs >= from - 2_000 && atMs <= until + 3_000 ? [{ atMs, line: `* ${what}` }] : [],
  );
  const happened = [...said, ...faults].toSorted((one, other) => one.atMs - other.atMs);
  return [
    `${shown.message_id} of request ${asked.index} (${asked.account.name}) to ${asked.addresses.join()}, created ${shown.created_at}, is ${shown.status}`,
    ...timeline.map((entry) => JSON.stringify(entry)),
    ...events.map(({ data }) => JSON.stringify(data)),
    ...happened.map(({ atMs, line }) => `${new Date(atMs).toISOString().slice(14)} ${line}`),
  ]
    .map((line) => `    ${line}`)
    .join("\n");
}
