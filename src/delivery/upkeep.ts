import type { Log } from "../core/log.ts";
import type { Sweeper } from "../core/queue/in-flight-jobs.ts";
import { DAY_MS, HOUR_MS, RETENTION_MS } from "../core/time/durations.ts";
import { type Chore, type Chores, type ChoresOptions, createChores } from "../core/work/chores.ts";
import { createPassing, type Queue, type Store } from "../store/store.ts";

/** How many rows one transaction moves: few enough not to hold up accepting. */
const CHUNK = 500;

/**
 * Runs the chores that it is given, each in a loop of its own, and logs those that fail. One that fails because of a row that is then put
 * off runs again at once, since others wait behind that row.
 */
export function createUpkeep({
  log,
  chores,
  clock,
}: Omit<ChoresOptions, "onError"> & { readonly log: Pick<Log, "warn"> }): Chores {
  const onError = (error: unknown, { name }: Chore) =>
    log.warn({ err: error, chore: name }, "upkeep failed; it will be tried again");
  const passing = (chore: Chore): Chore => {
    const mayPass = createPassing();
    const orPass = (error: unknown) => {
      if (!mayPass(error)) throw error;
      onError(error, chore);
      return 1;
    };
    return { ...chore, run: (now) => chore.run(now).catch(orPass) };
  };
  return createChores({ clock, chores: chores.map(passing), onError });
}

type ChoreStore = Pick<Store, "queue" | "feed" | "erasures" | "inbound" | "retention" | "ping">;

/** The store's chores, apart from `stageChore`. */
export function storeChores({
  queue,
  feed,
  erasures,
  inbound,
  retention,
  ping,
}: ChoreStore): readonly Chore[] {
  const prune = (what: string, run: Chore["run"]) =>
    pruneChore(what, async (now) => run(await earliest(ping, now)));
  return [
    { name: "expire", everyMs: 500, run: (now) => queue.expire(now, CHUNK) },
    { name: "number events", everyMs: 50, run: () => feed.numberEvents(CHUNK) },
    { name: "prepare days", everyMs: 60_000, run: (now) => retention.prepareDays(now) },
    { name: "erase", everyMs: 1_000, run: (now) => erasures.advance(now, 4 * CHUNK), isPatient: true },
    { name: "wipe", everyMs: 30_000, run: (now) => retention.wipeContents(now, CHUNK) },
    prune("messages", (now) => retention.pruneMessages({ ...oldMessages(now), quietSince: now - QUIET_MS })),
    prune("suppressions", (now) => retention.pruneSuppressions(now, CHUNK)),
    prune("keys", (now) => retention.pruneIdempotencyKeys(now, CHUNK)),
    {
      name: "complete inbound",
      everyMs: 5_000,
      run: (now) => inbound.storeIncomplete(now - PARTS_PATIENCE_MS, CHUNK),
    },
    prune("inbound", (now) => retention.pruneInbound(oldMessages(now))),
    prune("received", (now) => retention.pruneReceived(now - RETENTION_MS, CHUNK)),
  ];
}

/**
 * The earlier of this machine's time and the database's. What is deleted does not come back, so both clocks have to say that it is
 * past its retention: otherwise one machine whose clock is ahead would delete what all others have just accepted.
 */
async function earliest(ping: Store["ping"], now: number): Promise<number> {
  return Math.min(now, (await ping()) ?? now);
}

function pruneChore(what: string, run: Chore["run"]): Chore {
  return { name: `prune ${what}`, everyMs: 60_000, isPatient: true, run };
}

function oldMessages(now: number) {
  return { before: now - RETENTION_MS, atLatest: now - LONGEST_KEPT_MS, limit: CHUNK };
}

/** From day 16 on a message's rows are deleted even if it is not final. */
const LONGEST_KEPT_MS = 16 * DAY_MS;

/**
 * How long what became of a message can be read in the event feed, however old the message was by then: one may be scheduled for the
 * moment at which it is seven days old. With the store's rounds of six hours that is less than a day.
 */
const QUIET_MS = 12 * HOUR_MS;

/** How long a long message from a handset waits for its missing parts; then it is shown without them. */
const PARTS_PATIENCE_MS = 10 * 60_000;

/**
 * Makes jobs ready whose time has come. Processes with only the role `delivery` run it too, since only a process itself ends its
 * expired leases while it is alive. It first asks when the next job is due: ten transactions a second for nothing would cost
 * too much.
 */
export function stageChore(queue: Pick<Queue, "nextDueAt" | "stage">, sweeper: () => Sweeper): Chore {
  return {
    name: "stage",
    everyMs: 100,
    async run(now) {
      const nextDueAt = await queue.nextDueAt(now);
      return nextDueAt !== undefined && nextDueAt <= now ? queue.stage(now, CHUNK, sweeper()) : 0;
    },
  };
}
