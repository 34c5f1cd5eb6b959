import { type Clock, sleep } from "../clock.ts";

/** Chores are work that is repeated for ever, each in a loop of its own. */
export interface Chores {
  start(): void;
  /** The names of the chores that are more than `ms` late; none before `start`. */
  stalled(ms: number): readonly string[];
  /** Resolves when all loops have ended. */
  stop(): Promise<void>;
}

export interface Chore {
  readonly name: string;
  readonly everyMs: number;
  /** Does one bounded piece of work, and resolves with how many rows it moved; if that is more than 0, it runs again at once. */
  readonly run: (now: number) => Promise<number>;
  /**
   * Nobody waits for the chore, so after each piece it rests for as long as that took, up to `LONGEST_REST_MS`. It is busy at most
   * half of the time.
   */
  readonly isPatient?: boolean;
}

/** A piece takes longer only where the process or the database stood still, and there is no work from which to rest. */
const LONGEST_REST_MS = 30_000;

export interface ChoresOptions {
  readonly clock: Clock;
  readonly chores: readonly Chore[];
  /** Called when a run has failed. The chore runs again when its time comes. */
  readonly onError: (error: unknown, chore: Chore) => void;
}

export function createChores({ clock, chores, onError }: ChoresOptions): Chores {
  const stopping = new AbortController();
  /** When each is to run next; while it runs, as if that took no time. */
  const dueAt = new Map<string, number>();
  let loops: readonly Promise<void>[] = [];

  const loop = async (chore: Chore) => {
    while (!stopping.signal.aborted) {
      const startedMs = clock.monotonicMs();
      dueAt.set(chore.name, startedMs + chore.everyMs);
      const moved = await chore.run(clock.now()).catch((error) => {
        onError(error, chore);
        return 0;
      });
      const endedMs = clock.monotonicMs();
      const tookMs = Math.min(endedMs - startedMs, LONGEST_REST_MS);
      const restMs = Math.max(chore.isPatient ? tookMs : 0, moved > 0 ? 0 : chore.everyMs);
      dueAt.set(chore.name, endedMs + restMs);
      await sleep(clock, restMs, stopping.signal);
    }
  };

  return {
    start() {
      loops = chores.map(loop);
    },
    stalled(ms) {
      const now = clock.monotonicMs();
      return chores.flatMap(({ name }) => (now - (dueAt.get(name) ?? now) > ms ? [name] : []));
    },
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}
