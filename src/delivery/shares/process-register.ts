import type { Clock } from "../../core/clock.ts";
import type { LeaseProcess } from "../../store/store.ts";

/** Which processes were seen, and how long each has stood still, by this one's clock alone. */
export interface ProcessRegister {
  note(processes: readonly LeaseProcess[]): void;
  /** Those that have not turned for too long, other than this one; of those said to be dead, a moment is enough. */
  dead(own: string): readonly LeaseProcess[];
}

export interface RegisterOptions {
  readonly clock: Clock;
  readonly deadMs: number;
  /** Said to be dead. */
  readonly known?: readonly string[];
}

/** Two turns. Whoever is said to be dead and turns all the same lives. */
const KNOWN_MS = 2_000;

/**
 * From one look to the next counts for no more than this. While the database is away nobody can turn, and the first that
 * comes back is not to bury the others for it.
 */
const LOOK_MS = 3_000;

export function createRegister({ clock, deadMs, known }: RegisterOptions): ProcessRegister {
  const knownDead = new Set(known);
  // Once: whoever comes back after its burial was not dead.
  const firstStillMs = (process: string) => (knownDead.delete(process) ? deadMs - KNOWN_MS : 0);
  let seen = new Map<string, LeaseProcess & { readonly stillMs: number }>();
  let lookedMs = clock.monotonicMs();
  const sinceLookMs = () => Math.min(LOOK_MS, clock.monotonicMs() - lookedMs);
  const stillMsOf = ({ process, turn }: LeaseProcess, moreMs: number): number => {
    const before = seen.get(process);
    if (!before) return firstStillMs(process);
    return before.turn === turn ? before.stillMs + moreMs : 0;
  };
  return {
    note(processes) {
      const moreMs = sinceLookMs();
      lookedMs = clock.monotonicMs();
      seen = new Map(processes.map((one) => [one.process, { ...one, stillMs: stillMsOf(one, moreMs) }]));
    },
    dead(own) {
      const limitMs = deadMs - sinceLookMs();
      return [...seen.values()]
        .filter(({ process, stillMs }) => process !== own && stillMs >= limitMs)
        .map(({ process, turn }) => ({ process, turn }));
    },
  };
}
