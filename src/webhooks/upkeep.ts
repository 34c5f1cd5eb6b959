import { type Clock, sleep } from "../core/clock.ts";
import type { Sweeper } from "../core/queue/in-flight-jobs.ts";
import type { Lane } from "../core/webhooks/webhook-outbox.ts";
import type { Outbox } from "../store/store.ts";

/** Rows moved by one transaction: short enough that accepting does not notice. */
const CHUNK = 500;

const STAGE_MS = 100;

/** `Outbox.onReady` may miss events of other processes, and the lane queue may have been full. */
const POLL_MS = 1_000;
const LANES_AT_ONCE = 1_000;

export interface UpkeepDeps {
  readonly outbox: Pick<Outbox, "stage" | "nextDueAt" | "readyLanes">;
  /** Asked before each sweep. */
  readonly sweeper: () => Sweeper;
  readonly clock: Clock;
  /** Called with lanes that have ready events, whether or not they are known already. */
  readonly onLanes: (lanes: readonly Lane[]) => void;
  readonly onError: (error: unknown) => void;
}

/** The outbox's background loops: one makes due events ready, one finds the lanes that have ready events. */
export interface OutboxUpkeep {
  start(): void;
  /** Names of the loops that are more than `ms` late; none before `start`. */
  stalled(ms: number): readonly string[];
  /** Resolves when both loops have ended. */
  stop(): Promise<void>;
}

export function createOutboxUpkeep(deps: UpkeepDeps): OutboxUpkeep {
  const { clock } = deps;
  const stopping = new AbortController();
  const loops = [
    { name: "stage webhooks", everyMs: STAGE_MS, run: () => stage(deps), turnedAt: 0 },
    { name: "poll webhooks", everyMs: POLL_MS, run: createPoll(deps), turnedAt: 0 },
  ];
  let running: readonly Promise<void>[] = [];

  const turn = async (loop: (typeof loops)[number]) => {
    while (!stopping.signal.aborted) {
      loop.turnedAt = clock.monotonicMs();
      const hasMore = await loop.run().catch((error) => {
        deps.onError(error);
        return false;
      });
      await sleep(clock, hasMore ? 0 : loop.everyMs, stopping.signal);
    }
  };
  return {
    start() {
      running = loops.map(turn);
    },
    stalled(ms) {
      if (running.length === 0) return [];
      const now = clock.monotonicMs();
      return loops.flatMap(({ name, everyMs, turnedAt }) => (now - turnedAt > everyMs + ms ? [name] : []));
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

/** Asks first, so that a sweep that finds nothing costs no transaction. */
async function stage({ outbox, sweeper, clock }: UpkeepDeps): Promise<boolean> {
  const now = clock.now();
  const nextDueAt = await outbox.nextDueAt();
  if (nextDueAt === undefined || nextDueAt > now) return false;
  return (await outbox.stage(now, CHUNK, sweeper())) === CHUNK;
}

/** Each call goes on where the last one ended, and begins again at the end. */
function createPoll({ outbox, onLanes }: UpkeepDeps): () => Promise<boolean> {
  let after: Lane | undefined;
  return async () => {
    const lanes = await outbox.readyLanes({ ...(after && { after }), limit: LANES_AT_ONCE });
    after = lanes.length === LANES_AT_ONCE ? lanes.at(-1) : undefined;
    if (lanes.length > 0) onLanes(lanes);
    return false;
  };
}
