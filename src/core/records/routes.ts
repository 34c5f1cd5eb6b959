import type { ChannelName } from "../messages/message.ts";
import type { SmsCategory } from "../sms/sms-category.ts";
import { domainKey } from "../suppressions/address-key.ts";
import type { Route } from "./accounts.ts";

/** The queues of sandbox accounts, which the simulator serves. */
export const SANDBOX_QUEUES = { sms: "sandbox:sms", email: "sandbox:email" } as const;

const OF_SANDBOX: ReadonlySet<string> = new Set(Object.values(SANDBOX_QUEUES));

/** Whether a queue is one of sandbox accounts. What waits there is simulated, also once its account is live. */
export function isOfSandbox(queue: string): boolean {
  return OF_SANDBOX.has(queue);
}

/** The facts about a message by which its route is chosen. */
export interface Destination {
  readonly accountId: string;
  readonly channel: ChannelName;
  /** SMS: the E.164 number. Email: the recipient's domain, in any spelling. */
  readonly destination: string;
  /** SMS: the sender id that goes out. Email: the domain of the From address, in any spelling. */
  readonly sender?: string | undefined;
  /** The category of the SMS's template. */
  readonly category?: SmsCategory | undefined;
}

/**
 * The most specific of the routes whose conditions a destination meets; `undefined` if there is none. A route of the
 * account comes before one of all accounts, then the longest `match`, then one that names the sender, then one that names
 * the category, then the oldest.
 */
export function chooseRoute(routes: readonly Route[], to: Destination): Route | undefined {
  const asked = to.channel === "email" ? withKeys(to) : to;
  let best: Route | undefined;
  for (const route of routes) {
    if (leadsTo(route, asked) && (!best || isBetter(route, best))) best = route;
  }
  return best;
}

/**
 * The form in which `match` and `sender` are compared. For email they are domains, and all spellings of a domain have one key; a
 * stored route may contain another spelling.
 */
export function conditionKey(channel: ChannelName, condition: string): string {
  return channel === "email" ? domainKey(condition) : condition;
}

/** The route with the keys of its domains in their place, so that they need not be computed for each recipient. */
export function withConditionKeys(route: Route): Route {
  const { channel, match, sender } = route;
  if (channel !== "email") return route;
  return { ...route, match: domainKey(match), ...(sender !== undefined && { sender: domainKey(sender) }) };
}

function withKeys(to: Destination): Destination {
  const { destination, sender } = to;
  return { ...to, destination: domainKey(destination), sender: sender && domainKey(sender) };
}

function leadsTo(route: Route, { accountId, channel, destination, sender, category }: Destination): boolean {
  if (route.channel !== channel) return false;
  if (route.accountId !== undefined && route.accountId !== accountId) return false;
  if (route.sender !== undefined && conditionKey(channel, route.sender) !== sender) return false;
  if (route.category !== undefined && route.category !== category) return false;
  return matches(route, destination);
}

function matches({ channel, match }: Route, destination: string): boolean {
  if (match === "") return true;
  if (channel === "email") return destination === domainKey(match);
  return destination.startsWith(match, destination.startsWith("+") ? 1 : 0);
}

function isBetter(route: Route, than: Route): boolean {
  for (const weigh of SPECIFICITY) {
    const difference = weigh(route) - weigh(than);
    if (difference !== 0) return difference > 0;
  }
  return route.id < than.id;
}

/** The measures of how specific a route is, the most important one first. */
const SPECIFICITY: readonly ((route: Route) => number)[] = [
  (route) => (route.accountId === undefined ? 0 : 1),
  // A domain is matched whole, so its length does not matter.
  ({ channel, match }) => (channel === "email" ? Math.sign(match.length) : match.length),
  (route) => (route.sender === undefined ? 0 : 1),
  (route) => (route.category === undefined ? 0 : 1),
];
