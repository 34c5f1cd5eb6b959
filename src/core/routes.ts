import type { Route } from "./accounts.ts";
import type { ChannelName } from "./message.ts";

/** Queues of sandbox accounts, served by the simulator. */
export const SANDBOX_QUEUES = { sms: "sandbox:sms", email: "sandbox:email" } as const;

export interface Destination {
  readonly accountId: string;
  readonly channel: ChannelName;
  /** SMS: the E.164 number. Email: the recipient's domain, lower case. */
  readonly destination: string;
}

/**
 * The route of a destination: the account's own routes come before those of all accounts, among these the longest
 * match counts, among equals the oldest. `undefined`: none leads there.
 */
export function chooseRoute(
  routes: readonly Route[],
  { accountId, channel, destination }: Destination,
): Route | undefined {
  let best: Route | undefined;
  for (const route of routes) {
    const isOpen = route.accountId === undefined || route.accountId === accountId;
    if (!isOpen || route.channel !== channel || !leadsTo(route, destination)) continue;
    if (!best || isBetter(route, best)) best = route;
  }
  return best;
}

function leadsTo(route: Route, destination: string): boolean {
  if (route.match === "") return true;
  if (route.channel === "email") return destination === route.match.toLowerCase();
  return destination.startsWith(route.match, destination.startsWith("+") ? 1 : 0);
}

function isBetter(route: Route, than: Route): boolean {
  const isOwn = route.accountId !== undefined;
  if (isOwn !== (than.accountId !== undefined)) return isOwn;
  if (route.match.length !== than.match.length) return route.match.length > than.match.length;
  return route.id < than.id;
}
