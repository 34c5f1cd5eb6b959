import type { Clock } from "../../../core/clock.ts";
import { createRateWindow, type RateWindow } from "../../../core/rate-window.ts";
import type { AskedTurn, NextSegment, Turn } from "./sender-pace.ts";

/** The messages of one sender that wait for their turn, in one line for each flow; the flows are served in turns. */
export interface SenderLine {
  /** Milliseconds until a message of the flow that joined now would go, about; 0: at once. */
  aheadMs(flow: number): number;
  /** `undefined`: it goes at once. The promise resolves when it may go, or with a time after which it is to ask again. */
  join(asked: Pick<AskedTurn, "flow" | "segments" | "signal">): Turn | Promise<Turn>;
  /** The next segment of the message that went last: resolves when it may go, and counts it. False: not within the limit. */
  nextSegment(next: NextSegment): Promise<boolean>;
  /** Nobody waits, and nobody would have to. */
  isIdle(): boolean;
}

/** A timer may be late by as much; the next turn does not wait for that. */
const LATE_MS = 20;

/** Who has waited so long, because other flows have come, asks again. Leases allow for it. */
export const LONGEST_HELD_MS = 4_000;
const AGAIN_MS = 500;

interface Waiting {
  readonly segments: number;
  readonly go: (turn: Turn) => void;
}

interface State {
  readonly clock: Clock;
  /** In segments a second. */
  readonly rate: () => number;
  /** What went lately, against `windowRate`. */
  window: RateWindow;
  windowRate: number;
  /** None is empty; the first is served next. */
  readonly flows: Map<number, Set<Waiting>>;
  /** When the next may go. */
  freeAt: number;
  isTimed: boolean;
}

/** The highest rate whose window is kept: it holds the time of each segment of a second, for each sender. */
const MOST_IN_WINDOW = 1_000;

function windowOf(rate: number, before = createRateWindow(Number.POSITIVE_INFINITY)): RateWindow {
  return before.withRate(rate <= MOST_IN_WINDOW ? rate : Number.POSITIVE_INFINITY, 0);
}

/** @param rate the sender's at this time, in segments a second */
export function createSenderLine(clock: Clock, rate: () => number): SenderLine {
  const state: State = {
    clock,
    rate,
    window: windowOf(rate()),
    windowRate: rate(),
    flows: new Map(),
    freeAt: Number.NEGATIVE_INFINITY,
    isTimed: false,
  };
  const isIdle = () => state.flows.size === 0 && restMs(state) === 0;
  return {
    aheadMs: (flow) => restMs(state) + costMs(state, segmentsBefore(state, flow)),
    join({ flow, segments, signal }) {
      if (signal.aborted) return AGAIN_MS;
      if (!isIdle()) return wait(state, { flow, segments, signal });
      count(state, segments);
      return undefined;
    },
    nextSegment: (next) => nextSegment(state, next),
    isIdle,
  };
}

/** How long so many segments take. */
function costMs({ rate }: State, segments: number): number {
  return (segments / rate()) * 1000;
}

function restMs(state: State): number {
  const nowMs = state.clock.monotonicMs();
  return Math.max(0, state.freeAt - nowMs, windowNow(state).waitMs(nowMs));
}

/** The rate changes with this process's part of it. */
function windowNow(state: State): RateWindow {
  const rate = state.rate();
  if (rate !== state.windowRate) state.window = windowOf(rate, state.window);
  state.windowRate = rate;
  return state.window;
}

/** Of those in line now: the segments that would be served before one more of this flow. */
function segmentsBefore({ flows }: State, flow: number): number {
  const turns = (flows.get(flow)?.size ?? 0) + 1;
  let segments = 0;
  for (const line of flows.values()) {
    let served = 0;
    for (const waiting of line) if (served++ < turns) segments += waiting.segments;
  }
  return segments;
}

/** Takes the time of all segments of a message; the first goes now. */
function count(state: State, segments: number, lateMs = 0): void {
  const nowMs = state.clock.monotonicMs();
  state.freeAt = Math.max(state.freeAt, nowMs - lateMs) + costMs(state, segments);
  windowNow(state).took(nowMs);
}

/** Its time is counted from the end of what the message has taken. What is late beyond a timer's measure is added to that. */
async function nextSegment(state: State, { left, limitMs, signal }: NextSegment): Promise<boolean> {
  const { clock } = state;
  const endsAt = clock.monotonicMs() + limitMs;
  const dueAt = () => state.freeAt - costMs(state, left + 1);
  const restNow = () => {
    const nowMs = clock.monotonicMs();
    return signal.aborted ? 0 : Math.max(dueAt() - nowMs, windowNow(state).waitMs(nowMs));
  };
  for (let ms = restNow(); ms > 0; ms = restNow()) {
    if (clock.monotonicMs() + ms > endsAt) return false;
    await pause(clock, Math.ceil(ms), signal);
  }
  const nowMs = clock.monotonicMs();
  state.freeAt += Math.max(0, nowMs - LATE_MS - dueAt());
  windowNow(state).took(nowMs);
  return true;
}

/** Ends early on abort. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener("abort", end);
  });
}

function wait(
  state: State,
  { flow, segments, signal }: Pick<AskedTurn, "flow" | "segments" | "signal">,
): Promise<Turn> {
  const { clock, flows } = state;
  return new Promise((resolve) => {
    const go = (turn: Turn) => {
      cancelLongest();
      signal.removeEventListener("abort", giveUp);
      resolve(turn);
    };
    const waiting = { segments, go };
    const giveUp = () => {
      leave(state, flow, waiting);
      go(AGAIN_MS);
    };
    const cancelLongest = clock.after(LONGEST_HELD_MS, giveUp);
    signal.addEventListener("abort", giveUp);
    const line = flows.get(flow) ?? new Set();
    flows.set(flow, line.add(waiting));
    serveLater(state);
  });
}

function serveLater(state: State): void {
  if (state.isTimed || state.flows.size === 0) return;
  state.isTimed = true;
  state.clock.after(Math.ceil(restMs(state)), () => serve(state));
}

function serve(state: State): void {
  state.isTimed = false;
  for (const [flow, line] of state.flows) {
    if (restMs(state) > 0) break;
    const [first] = line;
    if (!first) continue;
    leave(state, flow, first);
    count(state, first.segments, LATE_MS);
    first.go(undefined);
  }
  serveLater(state);
}

/** The other flows' turn comes first then. */
function leave({ flows }: State, flow: number, waiting: Waiting): void {
  const line = flows.get(flow);
  if (!line?.delete(waiting)) return;
  flows.delete(flow);
  if (line.size > 0) flows.set(flow, line);
}
