import type { Clock } from "../../../../core/clock.ts";
import { type WaitLimits, waitAtMost } from "../../../../core/work/wait-at-most.ts";
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
    /** The session that the message's other segments went over. As long as it is open, the segment waits for it. */
    readonly over?: Session | undefined;
  }): Session | undefined | Promise<Session | undefined>;
  /** To be called when slots may have become free, or sessions have come or gone. */
  serve(): void;
  /** To be called when the pace has changed, which may allow segments sooner than was waited for. */
  repace(): void;
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
  const atPace = () => waitingForPace(line, sessions());
  const free = () => Math.max(0, Math.min(freeBehind(line, sessions()), pace.soon() - atPace()));
  const takeNow = (over: Session | undefined): Session | undefined => {
    const session = sessionFor(sessions(), over);
    if (!session || pace.available() < 1) return undefined;
    session.slots.take();
    pace.take();
    return session;
  };
  /** Whether a segment takes nobody's turn if it goes now: those in line wait for a session that is full. */
  const mayPass = (over: Session | undefined) =>
    line.length() === 0 || (!line.isAhead(over) && pace.available() > atPace());
  /** Serves the line again when the pace allows more. For slots and sessions that become free, `serve` is called anyway. */
  const wakeLater = () => {
    if (pace.available() < 1 && isAnyOpen()) timer.set(Math.max(SHORTEST_WAIT_MS, pace.waitMs()), serve);
  };
  const serve = () => {
    if (!isAnyOpen()) {
      timer.cancel();
      return line.sendAway();
    }
    serveInOrder(line, sessions, takeNow);
    wakeLater();
    if (free() > 0) onFree();
  };
  return {
    free,
    take({ waitMs, signal, isBegun = false, over }) {
      if (signal.aborted) return undefined;
      const session = mayPass(over) ? takeNow(over) : undefined;
      wakeLater();
      if (session) return session;
      const room = isBegun && isAnyOpen() ? 1 : sum(sessions(), openSlots) - line.length();
      return room > 0 ? line.join({ limitMs: waitMs, signal }, over) : undefined;
    },
    serve,
    repace() {
      timer.cancel();
      serve();
    },
  };
}

/** Gives those in line their turn. Those whose session is full leave it to those behind. */
function serveInOrder(
  line: Line,
  sessions: SubmitLineDeps["sessions"],
  takeNow: (over: Session | undefined) => Session | undefined,
): void {
  const hasSlot = (over: Session | undefined) => sessionFor(sessions(), over) !== undefined;
  for (let next = line.first(hasSlot); next; next = line.first(hasSlot)) {
    const session = takeNow(next.over);
    if (!session) return;
    next.call(session);
  }
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

/** The session for a segment that is to go over this one while it is open; `undefined` if no slot is free there. */
function sessionFor(sessions: readonly Session[], over: Session | undefined): Session | undefined {
  const isBound = over?.slots.isOpen() === true && sessions.includes(over);
  if (!isBound) return freest(sessions);
  return over.slots.free() > 0 ? over : undefined;
}

/** The session with the most free slots, so that all sessions carry about the same. */
function freest(sessions: readonly Session[]): Session | undefined {
  let best: Session | undefined;
  for (const session of sessions) {
    if (session.slots.free() > (best?.slots.free() ?? 0)) best = session;
  }
  return best;
}

/** How many slots are free beyond those that the line waits for. */
function freeBehind({ waitingFor }: Line, sessions: readonly Session[]): number {
  const unclaimed = (session: Session) => Math.max(0, session.slots.free() - waitingFor(session));
  return sum(sessions, unclaimed) - waitingFor(undefined);
}

/** How many in line could go if the pace allowed it. Those whose session is full leave that to others too. */
function waitingForPace({ length, waitingFor }: Line, sessions: readonly Session[]): number {
  const withoutSlot = (session: Session) => Math.max(0, waitingFor(session) - session.slots.free());
  return length() - sum(sessions, withoutSlot);
}

function isOpen({ slots }: Session): boolean {
  return slots.isOpen();
}

function openSlots({ slots }: Session): number {
  return slots.isOpen() ? slots.size() : 0;
}

function sum(sessions: readonly Session[], count: (session: Session) => number): number {
  let total = 0;
  for (const session of sessions) total += count(session);
  return total;
}

/** A segment in line. */
interface Waiting {
  /** Counts those that joined, from 1. */
  readonly number: number;
  readonly over: Session | undefined;
  /** Gives it its turn, or sends it away. */
  readonly call: (session: Session | undefined) => void;
}

type Line = ReturnType<typeof createLine>;

/** Those that wait for one session have a line of their own in it: however many they are, they cost nothing while it is full. */
function createLine(clock: Clock) {
  const lines = new Map<Session | undefined, Set<Waiting>>();
  let joined = 0;
  let length = 0;
  const add = (waiting: Waiting) => {
    const own = lines.get(waiting.over) ?? new Set();
    lines.set(waiting.over, own.add(waiting));
    length++;
  };
  const remove = (waiting: Waiting) => {
    const own = lines.get(waiting.over);
    if (!own?.delete(waiting)) return;
    if (own.size === 0) lines.delete(waiting.over);
    length--;
  };
  return {
    length: () => length,
    /** How many wait for this session only; `undefined`: for any. */
    waitingFor: (session: Session | undefined) => lines.get(session)?.size ?? 0,
    /** Whether anybody waits for what a segment would take that is to go over this session. */
    isAhead: (over: Session | undefined) => lines.has(undefined) || lines.has(over),
    /** Of those that can go over what they wait for, the one that joined first. */
    first(canGoOver: (over: Session | undefined) => boolean): Waiting | undefined {
      let best: Waiting | undefined;
      for (const [over, [first]] of lines)
        if (first && first.number < (best?.number ?? Number.POSITIVE_INFINITY) && canGoOver(over))
          best = first;
      return best;
    },
    /** Resolves with a session when the segment has its turn; with `undefined` after the limit, on abort, or when sent away. */
    join: (limits: WaitLimits, over: Session | undefined) =>
      waitAtMost<Session>(clock, limits, (call) => {
        const waiting = { number: ++joined, over, call };
        add(waiting);
        return () => remove(waiting);
      }),
    sendAway() {
      for (const { call } of [...lines.values()].flatMap((own) => [...own])) call(undefined);
    },
  };
}
