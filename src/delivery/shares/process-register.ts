import type { Clock } from "../../core/clock.ts";
import type { LeaseProcess } from "../../store/store.ts";

/** Which processes take turns, and how long each has not, by this process's clock alone. */
export interface ProcessRegister {
  /** Takes up the processes that a turn returned. */
  note(processes: readonly LeaseProcess[]): void;
  /** Processes without a turn for `deadMs`, or for `KNOWN_MS` if they are known to be dead. */
  dead(): readonly LeaseProcess[];
  /** Names of processes without a turn for `ms`. */
  silentFor(ms: number): ReadonlySet<string>;
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

interface Seen extends LeaseProcess {
  readonly stillMs: number;
  /** After how long without a turn it counts as dead. */
  readonly deadMs: number;
}

export function createRegister({ clock, deadMs, known }: RegisterOptions): ProcessRegister {
  const knownDead = new Set(known);
  let seen = new Map<string, Seen>();
  let lookedMs = clock.monotonicMs();
  const look = ({ process, turn }: LeaseProcess, moreMs: number): Seen => {
    const before = seen.get(process);
    if (before?.turn === turn) return { ...before, stillMs: before.stillMs + moreMs };
    // Known only once: a process that comes back after it was removed was not dead.
    const isKnown = !before && knownDead.delete(process);
    return { process, turn, stillMs: 0, deadMs: isKnown ? KNOWN_MS : deadMs };
  };
  return {
    note(processes) {
      const nowMs = clock.monotonicMs();
      const moreMs = Math.min(LOOK_MS, nowMs - lookedMs);
      lookedMs = nowMs;
      seen = new Map(processes.map((one) => [one.process, look(one, moreMs)]));
    },
    dead: () =>
      [...seen.values()]
        .filter((each) => each.stillMs >= each.deadMs)
        .map(({ process, turn }) => ({ process, turn })),
    silentFor: (ms) =>
      new Set([...seen.values()].filter(({ stillMs }) => stillMs >= ms).map((each) => each.process)),
  };
}
