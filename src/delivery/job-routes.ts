import { domainOf } from "../core/email/email-address.ts";
import type { JobInLine } from "../core/queue/claimed-job.ts";
import type { Route } from "../core/records/accounts.ts";
import { chooseRoute, type Destination } from "../core/records/routes.ts";
import { sentFrom } from "../core/sms/sent-from.ts";

type RoutedJob = Pick<JobInLine, "accountId" | "recipient" | "content" | "progress" | "parts">;

/** Tells which route serves a job by now; `undefined`: none. */
export type RouteOfJob = (job: RoutedJob) => Route | undefined;

/**
 * @param routes those that there are now
 * @param builtIn no job is led to one of these routes: the sandbox's messages are in their queues from the start
 */
export function createRouteOfJob(routes: () => readonly Route[], builtIn: readonly Route[]): RouteOfJob {
  const isConfigured = ({ id }: Route) => !builtIn.some((route) => route.id === id);
  return (job) => chooseRoute(routes().filter(isConfigured), destinationOf(job));
}

/** An email to several recipients takes the route of the first. */
function destinationOf({ accountId, recipient, content, progress, parts }: RoutedJob): Destination {
  if (content.channel === "sms") {
    const sender = sentFrom(content);
    return { accountId, channel: "sms", destination: recipient, sender, category: content.category };
  }
  const address = progress.parts[parts?.[0] ?? 0]?.address ?? recipient;
  return {
    accountId,
    channel: "email",
    destination: domainOf(address),
    sender: domainOf(content.from.email),
  };
}
