import type { Clock } from "../../core/clock.ts";
import type { LeaseProcess } from "../../store/store.ts";

/** Which processes take turns, and how long each has not, by this process's clock alone. */
export interface ProcessRegister {
  /** Takes up the processes that a turn returned. */
  note(processes: readonly LeaseProcess[]): void;
  /** Processes without a turn for `deadMs`, or for `KNOWN_MS` if they are known to be dead. */
  dead(): readonly LeaseProcess[];
}

export interface RegisterOptions {
  readonly clock: Clock;
  readonly deadMs: number;
  /** Names of processes known to be dead. */
  readonly known?: readonly string[];
}

/** Two turns' time: a process that takes a turn in it lives, though it was said to be dead. */
const KNOWN_MS = 2_000;

/**
 * The most that the time between two turns of this process counts for the others. While the database is away nobody can
 * take turns, and the first process to come back must not declare the others dead for that.
 */
const LOOK_MS = 3_000;

export function createRegister({ clock, deadMs, known }: RegisterOptions): ProcessRegister {
  const knownDead = new Set(known);
  // Only once: a process that comes back after it was removed was not dead.
  const firstStillMs = (process: string) => (knownDead.delete(process) ? deadMs - KNOWN_MS : 0);
  let seen = new Map<string, LeaseProcess & { readonly stillMs: number }>();
  let lookedMs = clock.monotonicMs();
  const stillMsOf = ({ process, turn }: LeaseProcess, moreMs: number): number => {
    const before = seen.get(process);
    if (!before) return firstStillMs(process);
    return before.turn === turn ? before.stillMs + moreMs : 0;
  };
  return {
    note(processes) {
      const nowMs = clock.monotonicMs();
      const moreMs = Math.min(LOOK_MS, nowMs - lookedMs);
      lookedMs = nowMs;
      seen = new Map(processes.map((one) => [one.process, { ...one, stillMs: stillMsOf(one, moreMs) }]));
    },
    dead: () =>
      [...seen.values()]
        .filter(({ stillMs }) => stillMs >= deadMs)
        .map(({ process, turn }) => ({ process, turn })),
  };
}
