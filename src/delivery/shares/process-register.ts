import type { Clock } from "../../core/clock.ts";
import type { LeaseProcess } from "../../store/store.ts";

/** The processes that are alive, and how long ago this process saw a heartbeat of each, by its own clock. */
export interface ProcessRegister {
  /** Notes the processes that a heartbeat returned. */
  note(processes: readonly LeaseProcess[]): void;
  /** Processes without a heartbeat for `deadMs`, or for `KNOWN_DEAD_MS` if they are known to be dead. */
  dead(): readonly LeaseProcess[];
  /** The names of processes without a heartbeat for `ms`. */
  silentFor(ms: number): ReadonlySet<string>;
}

export interface RegisterOptions {
  readonly clock: Clock;
  readonly deadMs: number;
  /** The names of processes that are known to be dead. */
  readonly known?: readonly string[];
}

/** The time of two heartbeats: a process that has one within it is alive, though it was said to be dead. */
const KNOWN_DEAD_MS = 2_000;

/**
 * The most that the time between two heartbeats of this process counts as silence of the others. While the database is away
 * nobody has a heartbeat, and the first process that is back must not declare the others dead for that.
 */
const MAX_GAP_MS = 3_000;

interface Seen extends LeaseProcess {
  readonly silentMs: number;
  /** After how long without a heartbeat a process counts as dead. */
  readonly deadMs: number;
}

export function createRegister({ clock, deadMs, known }: RegisterOptions): ProcessRegister {
  const knownDead = new Set(known);
  let seen = new Map<string, Seen>();
  let notedMs = clock.monotonicMs();
  const toSeen = ({ process, heartbeat }: LeaseProcess, moreMs: number): Seen => {
    const before = seen.get(process);
    if (before?.heartbeat === heartbeat) return { ...before, silentMs: before.silentMs + moreMs };
    // Known only once: a process that comes back after it was removed was not dead.
    const isKnown = !before && knownDead.delete(process);
    return { process, heartbeat, silentMs: 0, deadMs: isKnown ? KNOWN_DEAD_MS : deadMs };
  };
  return {
    note(processes) {
      const nowMs = clock.monotonicMs();
      const moreMs = Math.min(MAX_GAP_MS, nowMs - notedMs);
      notedMs = nowMs;
      seen = new Map(processes.map((one) => [one.process, toSeen(one, moreMs)]));
    },
    dead: () =>
      [...seen.values()]
        .filter((each) => each.silentMs >= each.deadMs)
        .map(({ process, heartbeat }) => ({ process, heartbeat })),
    silentFor: (ms) =>
      new Set([...seen.values()].filter(({ silentMs }) => silentMs >= ms).map((each) => each.process)),
  };
}
