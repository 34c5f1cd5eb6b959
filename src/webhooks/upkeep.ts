import type { Clock } from "../core/clock.ts";
import type { Sweeper } from "../core/queue/in-flight-jobs.ts";
import type { Lane } from "../core/webhooks/webhook-outbox.ts";
import { type Chore, type Chores, createChores } from "../core/work/chores.ts";
import type { Outbox } from "../store/store.ts";

/** The most rows that one transaction moves: few enough not to delay accepting. */
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
  /** Called with lanes that have ready events, also if they are known already. */
  readonly onLanes: (lanes: readonly Lane[]) => void;
  readonly onError: (error: unknown) => void;
}

/** The outbox's background loops: one makes due events ready, one finds the lanes that have ready events. */
export function createOutboxUpkeep(deps: UpkeepDeps): Chores {
  const { clock, onError } = deps;
  const chores: readonly Chore[] = [
    { name: "stage webhooks", everyMs: STAGE_MS, run: (now) => stage(deps, now) },
    { name: "poll webhooks", everyMs: POLL_MS, run: createPoll(deps), isPatient: true },
  ];
  return createChores({ clock, chores, onError });
}

/** Asks for the next due time first, so that a sweep that would find nothing costs no transaction. */
async function stage({ outbox, sweeper }: UpkeepDeps, now: number): Promise<number> {
  const nextDueAt = await outbox.nextDueAt(now);
  if (nextDueAt === undefined || nextDueAt > now) return 0;
  const moved = await outbox.stage(now, CHUNK, sweeper());
  return moved === CHUNK ? moved : 0;
}

/** Each call goes on where the last one ended, and begins again at the end. */
function createPoll({ outbox, onLanes }: UpkeepDeps): Chore["run"] {
  let after: Lane | undefined;
  return async () => {
    const lanes = await outbox.readyLanes({ ...(after && { after }), limit: LANES_AT_ONCE });
    after = lanes.length === LANES_AT_ONCE ? lanes.at(-1) : undefined;
    if (lanes.length > 0) onLanes(lanes);
    return 0;
  };
}
