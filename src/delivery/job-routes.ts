import { domainOf } from "../core/email/email-address.ts";
import type { JobInLine } from "../core/queue/claimed-job.ts";
import type { Route } from "../core/records/accounts.ts";
import { chooseRoute, type Destination } from "../core/records/routes.ts";
import { sentFrom } from "../core/sms/sent-from.ts";

type RoutedJob = Pick<JobInLine, "accountId" | "recipient" | "content" | "progress" | "parts">;

/** Tells which route serves a job by now; `undefined`: none. */
export type RouteOfJob = (job: RoutedJob) => Route | undefined;

export interface JobRoutes {
  /** To be called whenever the routes have changed. */
  reconcile(routes: readonly Route[]): void;
  readonly of: RouteOfJob;
}

/** @param builtIn no job is led to one of these routes: the sandbox's messages are in their queues from the start */
export function createJobRoutes(builtIn: readonly Route[]): JobRoutes {
  let configured: readonly Route[] = [];
  return {
    reconcile(routes) {
      configured = routes.filter((route) => !builtIn.some(({ id }) => id === route.id));
    },
    of: (job) => chooseRoute(configured, destinationOf(job)),
  };
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
