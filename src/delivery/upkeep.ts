import { type Clock, sleep } from "../core/clock.ts";
import type { UpkeepStore } from "../store/store.ts";
import type { DeliveryLog } from "./engine.ts";

const DAY_MS = 24 * 3_600_000;

/** A message answers 404 seven days after its creation, and its rows may go. */
const RETENTION_MS = 7 * DAY_MS;

/** What is still unfinished then goes by day 16. */
const LONGEST_KEPT_MS = 16 * DAY_MS;

/** What there is of a long message from a handset is shown when its other parts have not come for so long. */
const PARTS_PATIENCE_MS = 10 * 60_000;

/** Rows moved by one transaction: short enough that accepting does not notice. */
const CHUNK = 500;

export interface Chore {
  readonly name: string;
  readonly everyMs: number;
  /** One bounded piece of work; the number of rows it moved. */
  readonly run: (store: UpkeepStore, now: number) => Promise<number>;
}

const CHORES: readonly Chore[] = [
  { name: "stage", everyMs: 100, run: stageDue },
  { name: "expire", everyMs: 500, run: (store, now) => store.expire(now, CHUNK) },
  { name: "number events", everyMs: 50, run: (store, now) => store.numberEvents(now, CHUNK) },
  { name: "prepare days", everyMs: 60_000, run: (store, now) => store.prepareDays(now) },
  { name: "erase", everyMs: 1_000, run: (store, now) => store.erase(now, 4 * CHUNK) },
  { name: "wipe", everyMs: 30_000, run: (store) => store.wipeContents(CHUNK) },
  { name: "prune messages", everyMs: 60_000, run: pruneMessages },
  { name: "prune suppressions", everyMs: 60_000, run: (store, now) => store.pruneSuppressions(now, CHUNK) },
  { name: "prune keys", everyMs: 60_000, run: (store, now) => store.pruneIdempotencyKeys(now, CHUNK) },
  {
    name: "complete inbound",
    everyMs: 5_000,
    run: (store, now) => store.completeInbound(now - PARTS_PATIENCE_MS, CHUNK),
  },
  {
    name: "prune received",
    everyMs: 60_000,
    run: (store, now) => store.pruneReceived(now - RETENTION_MS, CHUNK),
  },
];

export interface Upkeep {
  start(): void;
  /** Names of the chores that have not turned within `ms` of their time. */
  stalled(ms: number): readonly string[];
  stop(): Promise<void>;
}

/** The standing work: stages what has come due, expires, wipes and prunes. Each chore is a loop of its own. */
export function createUpkeep(deps: {
  readonly store: UpkeepStore;
  readonly clock: Clock;
  readonly log: DeliveryLog;
  /** Beside those of the queue. */
  readonly chores?: readonly Chore[];
}): Upkeep {
  const chores = [...CHORES, ...(deps.chores ?? [])];
  const stopping = new AbortController();
  const turnedAt = new Map<string, number>();
  let loops: readonly Promise<void>[] = [];

  const loop = async (chore: Chore) => {
    while (!stopping.signal.aborted) {
      turnedAt.set(chore.name, deps.clock.monotonicMs());
      const moved = await chore.run(deps.store, deps.clock.now()).catch((error) => {
        deps.log.warn({ err: error, chore: chore.name }, "upkeep failed; it will be tried again");
        return 0;
      });
      await sleep(deps.clock, moved > 0 ? 0 : chore.everyMs, stopping.signal);
    }
  };

  return {
    start() {
      loops = chores.map(loop);
    },
    stalled(ms) {
      const now = deps.clock.monotonicMs();
      return chores.flatMap(({ name, everyMs }) =>
        now - (turnedAt.get(name) ?? now) > everyMs + ms ? [name] : [],
      );
    },
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

/** Asks first: a sweep that finds nothing shall cost no transaction. */
async function stageDue(store: UpkeepStore, now: number): Promise<number> {
  const nextDueAt = await store.nextDueAt();
  return nextDueAt !== undefined && nextDueAt <= now ? store.stage(now, CHUNK) : 0;
}

function pruneMessages(store: UpkeepStore, now: number): Promise<number> {
  return store.pruneMessages({ before: now - RETENTION_MS, atLatest: now - LONGEST_KEPT_MS, limit: CHUNK });
}
