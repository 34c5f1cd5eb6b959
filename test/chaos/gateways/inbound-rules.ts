/** Rules for what handsets write: it is listed once, told once in the feed, and its webhook says what the list says. */
import { type FeedEvent, isReceived, type Shown } from "../model.ts";
import { wholeFeed } from "../read-back.ts";
import { askAttempts, problemsOfWebhooks } from "../webhook-rules.ts";
import type { GatewayWorld } from "./gateway-world.ts";
import type { Written } from "./handsets.ts";

interface ShownInbound extends Omit<Shown, "status" | "created_at"> {
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly segments: number;
  readonly partial?: true;
}

export async function inboundProblems(world: GatewayWorld): Promise<readonly string[]> {
  const problems = [...world.handsets.problems];
  const attemptsOf = askAttempts(world.fleet.some(() => 0)!);
  for (const account of world.accounts) {
    const number = world.numbers.get(account);
    const written = world.handsets.written.filter(({ to }) => to === number);
    const shown = await listOf(world, account.apiKey);
    problems.push(...problemsOfList(written, shown));
    const events = (await wholeFeed(world, account)).filter(isReceived);
    const read = (world.model.feeds.get(account) ?? []).filter(isReceived);
    problems.push(...problemsOfEvents(shown, { events, read }));
    const deliveries = world.receivers
      .get(account)!
      .deliveries.filter(({ body }) => isReceived(JSON.parse(body)));
    const fates = shown.map((message) => ({ asked: ASKED, shown: message }));
    problems.push(...(await problemsOfWebhooks({ fates, events, deliveries, attemptsOf })));
  }
  return problems;
}

/** Each account has an `inbound_url`. */
const ASKED = { body: { callback_url: "inbound_url" } };

async function listOf({ fleet }: GatewayWorld, apiKey: string): Promise<readonly ShownInbound[]> {
  const service = fleet.some(() => 0)!;
  const headers = { Authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${service.url}/v1/sms/inbound?limit=1000`, { headers });
  return ((await response.json()) as { data: ShownInbound[] }).data;
}

function problemsOfList(written: readonly Written[], shown: readonly ShownInbound[]): readonly string[] {
  const byHandset = Map.groupBy(shown, ({ from }) => from);
  const problems: string[] = [];
  for (const message of written) {
    const found = byHandset.get(message.from) ?? [];
    byHandset.delete(message.from);
    const [first] = found;
    const isSame =
      first?.text === message.text &&
      first.to === message.to &&
      first.partial === undefined &&
      found.length === 1;
    if (!isSame && !isTorn(message))
      problems.push(`${describe(message)} is listed as ${JSON.stringify(found)}`);
    if (found.length === 0) problems.push(`${describe(message)} is lost`);
  }
  for (const [from, found] of byHandset) problems.push(`nobody wrote ${JSON.stringify(found)} from ${from}`);
  return problems;
}

/** After this time the parts of a message are not waited for any more, and not known again. */
const JOINED_WITHIN_MS = 9 * 60_000;

/** The clocks have leapt between its parts. */
function isTorn({ pieces }: Written): boolean {
  const times = pieces.flatMap(({ copies }) => copies.flatMap((copy) => copy.times));
  return pieces.length > 1 && Math.max(...times) - Math.min(...times) > JOINED_WITHIN_MS;
}

function describe({ from, to, pieces }: Written): string {
  const told = pieces.map(({ copies }) => copies.map(({ tries }) => tries));
  return `what ${from} wrote to ${to} (handed on ${JSON.stringify(told)} times)`;
}

interface Feed {
  readonly events: readonly FeedEvent[];
  /** What a reader got that followed its cursor. */
  readonly read: readonly FeedEvent[];
}

function problemsOfEvents(shown: readonly ShownInbound[], { events, read }: Feed): readonly string[] {
  const byMessage = Map.groupBy(events, ({ data }) => data.message_id);
  const idsOf = (some: readonly FeedEvent[]) => some.map(({ id }) => id).join();
  const problems = idsOf(events) === idsOf(read) ? [] : [`the reader got ${idsOf(read)} of ${idsOf(events)}`];
  for (const message of shown) {
    const told = byMessage.get(message.message_id) ?? [];
    byMessage.delete(message.message_id);
    if (told.length !== 1 || !Bun.deepEquals(told[0]?.data, message))
      problems.push(`${JSON.stringify(message)} is told as ${JSON.stringify(told)}`);
  }
  for (const told of byMessage.values())
    problems.push(`the feed tells of ${JSON.stringify(told)}, which is not listed`);
  return problems;
}
