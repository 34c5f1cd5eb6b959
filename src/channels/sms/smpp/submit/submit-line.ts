import type { Clock } from "../../../../core/clock.ts";
import { waitAtMost } from "../../../../core/work/wait-at-most.ts";
import type { Pace } from "../rate/pace.ts";
import type { Session } from "../session/session.ts";

/**
 * Gives each segment of a connector its turn: a session with a free slot, when the pace allows it. Until then the segment waits in
 * line, first come first served. At most as many segments wait as the windows have slots; any further one is refused at once,
 * unless its message has begun (`isBegun`). A message has only one segment in line at a time.
 */
export interface SubmitLine {
  /** How many segments would get their turn at once, or almost at once. */
  free(): number;
  /** A session, one slot of which is taken; `undefined` if none became free in time, on abort, or if the line is full. */
  take(limit: {
    readonly waitMs: number;
    readonly signal: AbortSignal;
    /** Another segment of the message has been sent before. */
    readonly isBegun?: boolean;
  }): Session | undefined | Promise<Session | undefined>;
  /** To be called when slots may have become free, or sessions have come or gone. */
  serve(): void;
}

export interface SubmitLineDeps {
  readonly clock: Clock;
  readonly pace: Pace;
  /** The sessions that submit. */
  readonly sessions: () => readonly Session[];
  readonly onFree: () => void;
}

/** The shortest time after which the line is served again, however fast the pace is. */
const SHORTEST_WAIT_MS = 20;

export function createSubmitLine({ clock, pace, sessions, onFree }: SubmitLineDeps): SubmitLine {
  const line = createLine(clock);
  const timer = createTimer(clock);
  const isAnyOpen = () => sessions().some(isOpen);
  const free = () => Math.max(0, Math.min(sum(sessions(), freeSlots), pace.soon()) - line.length());
  const takeNow = (): Session | undefined => {
    const session = freest(sessions());
    if (!session || pace.available() < 1) return undefined;
    session.slots.take();
    pace.take();
    return session;
  };
  /** Serves the line again when the pace allows more. For slots and sessions that become free, `serve` is called anyway. */
  const wakeLater = () => {
    if (pace.available() < 1 && isAnyOpen()) timer.set(Math.max(SHORTEST_WAIT_MS, pace.waitMs()), serve);
  };
  const serve = () => {
    if (!isAnyOpen()) {
      timer.cancel();
      return line.sendAway();
    }
    while (line.length() > 0) {
      const session = takeNow();
      if (!session) break;
      line.callFirst(session);
    }
    wakeLater();
    if (free() > 0) onFree();
  };
  return {
    free,
    take({ waitMs, signal, isBegun = false }) {
      if (signal.aborted) return undefined;
      const session = line.length() === 0 ? takeNow() : undefined;
      wakeLater();
      if (session) return session;
      const room = isBegun && isAnyOpen() ? 1 : sum(sessions(), openSlots) - line.length();
      return room > 0 ? line.join(waitMs, signal) : undefined;
    },
    serve,
  };
}

/** A single timer. While it is set, setting it again does nothing. */
function createTimer(clock: Clock) {
  let cancel: (() => void) | undefined;
  return {
    set(ms: number, run: () => void) {
      cancel ??= clock.after(ms, () => {
        cancel = undefined;
        run();
      });
    },
    cancel() {
      cancel?.();
      cancel = undefined;
    },
  };
}

/** The session with the most free slots, so that all sessions carry about the same. */
function freest(sessions: readonly Session[]): Session | undefined {
  let best: Session | undefined;
  for (const session of sessions) {
    if (session.slots.free() > (best?.slots.free() ?? 0)) best = session;
  }
  return best;
}

function isOpen({ slots }: Session): boolean {
  return slots.isOpen();
}

function freeSlots({ slots }: Session): number {
  return slots.free();
}

function openSlots({ slots }: Session): number {
  return slots.isOpen() ? slots.size : 0;
}

function sum(sessions: readonly Session[], count: (session: Session) => number): number {
  let total = 0;
  for (const session of sessions) total += count(session);
  return total;
}

function createLine(clock: Clock) {
  const line = new Set<(session: Session | undefined) => void>();
  return {
    length: () => line.size,
    /** Resolves with a session when the segment has its turn; with `undefined` after the limit, on abort, or when sent away. */
    join: (limitMs: number, signal: AbortSignal) =>
      waitAtMost<Session>(clock, { limitMs, signal }, (leave) => {
        line.add(leave);
        return () => line.delete(leave);
      }),
    callFirst(session: Session) {
      const [first] = line;
      first?.(session);
    },
    sendAway() {
      for (const leave of [...line]) leave(undefined);
    },
  };
}
