/** Jobs in the queue of a route that is gone: a process that had not read of that yet went by it once more. */
import { type Clock, sleep } from "../core/clock.ts";
import { domainOf } from "../core/email/email-address.ts";
import { NOBODY_ELSE } from "../core/queue/claimant.ts";
import type { ClaimedJob } from "../core/queue/claimed-job.ts";
import type { Route } from "../core/records/accounts.ts";
import { chooseRoute, type Destination } from "../core/records/routes.ts";
import type { Queue, Records } from "../store/store.ts";
import type { DeliveryLog } from "./engine.ts";
import type { Shares } from "./shares/shares.ts";

/** Between two looks at the queues of routes that have just gone. Of the others only every `ALL_EVERY`th time. */
const ROUND_MS = 1_000;
const ALL_EVERY = 60;

/** For so long after it is gone others may go by a route: a second as a rule. */
const RECENTLY_MS = 30_000;

/** Jobs moved at once, and how long that may take. */
const CHUNK = 200;
const LEASE_MS = 60_000;

export interface StrayJobsDeps {
  readonly queue: Pick<Queue, "backlog" | "claim" | "release">;
  readonly records: Pick<Records, "find">;
  readonly clock: Clock;
  readonly log: Pick<DeliveryLog, "warn">;
  readonly shares?: Pick<Shares, "claimant">;
  /** Its routes lead nobody: who is in the sandbox is sent there when the message is accepted. */
  readonly builtIn: { readonly routes: readonly Route[] };
}

export interface StrayJobs {
  /** Told of the routes whenever they have changed. */
  reconcile(routes: readonly Route[]): void;
  /** Moves jobs of routes that are gone to the routes that lead to their recipients now, until `signal` aborts. Never throws. */
  run(signal: AbortSignal): Promise<void>;
}

export function createStrayJobs(deps: StrayJobsDeps): StrayJobs {
  const { clock, log, queue } = deps;
  const isBuiltIn = (route: Route) => deps.builtIn.routes.some(({ id }) => id === route.id);
  let routes = new Map<string, Route>();
  /** Routes that have gone, and when (monotonic). */
  const goneAt = new Map<string, number>();

  const recentlyGone = () => {
    const sinceMs = clock.monotonicMs() - RECENTLY_MS;
    for (const [id, at] of goneAt) if (at < sinceMs) goneAt.delete(id);
    return [...goneAt.keys()];
  };
  const unknownQueues = async () => {
    const backlog = await queue.backlog();
    return backlog.flatMap(({ queue: name, ready }) => (ready > 0 && !routes.has(name) ? [name] : []));
  };
  const look = async (isFull: boolean) => {
    const names = isFull ? await unknownQueues() : recentlyGone();
    const leading = [...routes.values()].filter((route) => !isBuiltIn(route));
    for (const name of names) await moveJobs(deps, name, leading);
  };

  return {
    reconcile(now) {
      const before = routes;
      routes = new Map(now.map((route) => [route.id, route]));
      for (const id of before.keys()) if (!routes.has(id)) goneAt.set(id, clock.monotonicMs());
      for (const id of routes.keys()) goneAt.delete(id);
    },
    async run(signal) {
      for (let round = 0; !signal.aborted; round++) {
        await look(round % ALL_EVERY === 0).catch((error) =>
          log.warn({ err: error }, "the queues of routes that are gone could not be looked at"),
        );
        await sleep(clock, ROUND_MS, signal);
      }
    },
  };
}

/** Jobs that no route leads to now stay where they are: there may be one before they expire. */
async function moveJobs(deps: StrayJobsDeps, name: string, routes: readonly Route[]): Promise<void> {
  const { queue, records, clock, log } = deps;
  // A route that is new may not be known here yet.
  if ((await records.find("routes", { id: name })) !== undefined) return;
  const { process } = deps.shares?.claimant() ?? NOBODY_ELSE;
  const now = clock.now();
  const jobs = await queue.claim({
    queue: name,
    limit: CHUNK,
    now,
    leaseMs: LEASE_MS,
    ...(process !== undefined && { process }),
  });
  if (jobs.length === 0) return;
  const released = jobs.map((job) => {
    const route = chooseRoute(routes, destinationOf(job));
    return { jobId: job.jobId, claim: job.claim, ...(route && { queue: route.id }) };
  });
  await queue.release(released, now);
  const moved = released.filter((job) => "queue" in job).length;
  if (moved === 0) return;
  log.warn(
    { route: name, moved, waiting: jobs.length - moved },
    "messages were accepted for a route while it was deleted; those that another route leads to go over that one",
  );
}

/** A mail to several goes where the first of them leads to. */
function destinationOf({ accountId, recipient, content, progress, parts }: ClaimedJob): Destination {
  if (content.channel === "sms") {
    const { category, resolved, from } = content;
    return { accountId, channel: "sms", destination: recipient, sender: resolved?.from ?? from, category };
  }
  const address = progress.parts[parts?.[0] ?? 0]?.address ?? recipient;
  return {
    accountId,
    channel: "email",
    destination: domainOf(address),
    sender: domainOf(content.from.email),
  };
}
