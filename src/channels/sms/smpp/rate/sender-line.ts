import type { Clock } from "../../../../core/clock.ts";
import { createRateWindow, type RateWindow } from "../../../../core/work/rate-window.ts";
import { type WaitLimits, waitAtMost } from "../../../../core/work/wait-at-most.ts";
import {
  createFlowLines,
  type FlowLines,
  joinFlow,
  leaveFlow,
  nextPlace,
  type Place,
  segmentsBefore,
  serve,
  sharing,
} from "./flow-lines.ts";
import type { AskAgain, AskedTurn, HeldTurn, Turn } from "./sender-pace.ts";

/**
 * The messages of one sender that wait for their turn, in a line for each flow. The flows are served in turns, segment by segment.
 * A segment gets its turn once the one before has been sent: what still waits for the window does not count yet.
 */
export interface SenderLine {
  /** About how many milliseconds a message of the flow would wait if it joined now; 0: none. */
  aheadMs(asked: Pick<AskedTurn, "flow" | "isBegun">): number;
  /** How many flows would share the rate if this one were among them. */
  sharing(flow: number): number;
  /** The message's turn, now or when the promise resolves; or the message is to ask again. */
  join(asked: Joining): Turn | Promise<Turn>;
  /** Whether nobody waits, and nobody would have to. */
  isIdle(): boolean;
}

type Joining = Pick<AskedTurn, "flow" | "isBegun" | "segments" | "submits" | "signal">;

/** How late a timer may be without delaying the next turn, if no window is kept. */
const LATE_MS = 20;

/** The same if a window keeps the rate while the delay is made up for. On a busy machine timers are as late as this. */
const LATE_IN_WINDOW_MS = 250;

/** The longest that a message waits in line, since flows that join later delay it. Then it asks again. Leases are longer. */
export const LONGEST_IN_LINE_MS = 4_000;
const ASK_AGAIN: AskAgain = { retryAfterMs: 500 };

/** How often the time of a waiting message is computed anew, since the rate may have grown. */
const LOOK_MS = 1_000;

/** The highest rate for which a window is kept: it holds the time of each segment of a second, for each sender. */
const MOST_IN_WINDOW = 1_000;

interface State {
  readonly clock: Clock;
  /** In segments a second. */
  readonly rate: () => number;
  /** What was sent lately, for the limit `windowRate`. */
  window: RateWindow;
  windowRate: number;
  readonly flows: FlowLines;
  /** The message whose segment may be sent now. No other may until that has been sent. */
  called: Place | undefined;
  /** The next segment may be sent once `owed` segments, at the rate of that time, have taken their time from `freeAt` on. */
  freeAt: number;
  owed: number;
  isTimed: boolean;
}

/**
 * @param rate the sender's present rate, in segments per second
 * @param freeAt when the first segment may be sent, on the monotonic clock
 */
export function createSenderLine(clock: Clock, rate: () => number, freeAt: number): SenderLine {
  const state: State = {
    clock,
    rate,
    window: windowOf(rate()),
    windowRate: rate(),
    flows: createFlowLines(),
    called: undefined,
    freeAt,
    owed: 0,
    isTimed: false,
  };
  const isIdle = () => state.flows.lines.size === 0 && restMs(state) === 0;
  return {
    aheadMs: (asked) =>
      restMs(state) + costMs(state, (state.called?.step ?? 0) + segmentsBefore(state.flows, asked)),
    sharing: (flow) => sharing(state.flows, flow),
    join(asked) {
      if (asked.signal.aborted) return ASK_AGAIN;
      const isFree = isIdle();
      const place = joinFlow(state.flows, asked);
      if (!isFree) return firstTurn(state, place, asked.signal);
      state.freeAt = clock.monotonicMs();
      state.owed = 0;
      call(state, place);
      return hold(state, place, asked.signal);
    },
    isIdle,
  };
}

function lateMs({ windowRate }: State): number {
  return windowRate <= MOST_IN_WINDOW ? LATE_IN_WINDOW_MS : LATE_MS;
}

/** The window of a rate, with the same margin as the connector's own. One segment at a time it would only slow down. */
function windowOf(rate: number, before = createRateWindow(Number.POSITIVE_INFINITY)): RateWindow {
  const limit = rate <= MOST_IN_WINDOW ? rate : Number.POSITIVE_INFINITY;
  return rate > 1 ? before.withRate(limit) : before.withRate(limit, 0);
}

/** How long so many segments take, in milliseconds. */
function costMs({ rate }: State, segments: number): number {
  return (segments / rate()) * 1000;
}

function restMs(state: State): number {
  const nowMs = state.clock.monotonicMs();
  return Math.max(0, state.freeAt + costMs(state, state.owed) - nowMs, windowNow(state).waitMs(nowMs));
}

/** The window for the present rate, which changes with this process's part of it. */
function windowNow(state: State): RateWindow {
  const rate = state.rate();
  if (rate !== state.windowRate) state.window = windowOf(rate, state.window);
  state.windowRate = rate;
  return state.window;
}

async function firstTurn(state: State, place: Place, signal: AbortSignal): Promise<Turn> {
  if (await turnOf(state, place, { limitMs: LONGEST_IN_LINE_MS, signal })) return hold(state, place, signal);
  leave(state, place);
  return ASK_AGAIN;
}

function hold(state: State, place: Place, signal: AbortSignal): HeldTurn {
  return {
    gone() {
      const nowMs = state.clock.monotonicMs();
      state.called = undefined;
      state.freeAt = Math.max(state.freeAt + costMs(state, state.owed), nowMs - lateMs(state));
      state.owed = place.step;
      windowNow(state).took(nowMs);
      serveLater(state);
    },
    async next(limitMs) {
      // The segment before was not sent, so its turn goes to this one.
      if (state.called === place) place.left -= place.step;
      else if (signal.aborted || restMs(state) > limitMs) return false;
      else return (await turnOf(state, place, { limitMs, signal })) === true;
      return true;
    },
    end: () => leave(state, place),
    intervalMs: () => costMs(state, place.step * sharing(state.flows, place.flow)),
  };
}

/** Resolves with true when the message's next segment has its turn; with `undefined` after the limit, and on abort. */
function turnOf(state: State, place: Place, limits: Required<WaitLimits>): Promise<true | undefined> {
  const turn = waitAtMost<true>(state.clock, limits, (end) => {
    place.go = () => end(true);
    return () => {
      place.go = undefined;
    };
  });
  serveLater(state);
  return turn;
}

function leave(state: State, place: Place): void {
  leaveFlow(state.flows, place);
  if (state.called === place) state.called = undefined;
  serveLater(state);
}

function serveLater(state: State): void {
  const next = nextPlace(state.flows);
  if (state.isTimed || state.called || !next) return;
  const ms = Math.ceil(restMs(state));
  if (ms === 0) {
    call(state, next);
    next.go?.();
    return;
  }
  state.isTimed = true;
  state.clock.after(Math.min(ms, LOOK_MS), () => {
    state.isTimed = false;
    serveLater(state);
  });
}

function call(state: State, place: Place): void {
  state.called = place;
  serve(state.flows, place);
}
