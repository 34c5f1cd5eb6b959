import type { Clock } from "../../../core/clock.ts";
import type { AskedTurn, Turn } from "./sender-pace.ts";

/** The messages of one sender that wait for their turn, in one line for each flow; the flows are served in turns. */
export interface SenderLine {
  /** Milliseconds until a message of the flow that joined now would go, about; 0: at once. */
  aheadMs(flow: number): number;
  /** `undefined`: it goes at once. The promise resolves when it may go, or with a time after which it is to ask again. */
  join(asked: Pick<AskedTurn, "flow" | "segments" | "signal">): Turn | Promise<Turn>;
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
  readonly costMs: (segments: number) => number;
  /** None is empty; the first is served next. */
  readonly flows: Map<number, Set<Waiting>>;
  /** When the next may go. */
  freeAt: number;
  isTimed: boolean;
}

/** @param costMs how long the sender has to rest after so many segments */
export function createSenderLine(clock: Clock, costMs: (segments: number) => number): SenderLine {
  const state: State = {
    clock,
    costMs,
    flows: new Map(),
    freeAt: Number.NEGATIVE_INFINITY,
    isTimed: false,
  };
  const isIdle = () => state.flows.size === 0 && restMs(state) === 0;
  return {
    aheadMs: (flow) => restMs(state) + costMs(segmentsBefore(state, flow)),
    join({ flow, segments, signal }) {
      if (signal.aborted) return AGAIN_MS;
      if (!isIdle()) return wait(state, { flow, segments, signal });
      count(state, segments);
      return undefined;
    },
    isIdle,
  };
}

function restMs({ clock, freeAt }: State): number {
  return Math.max(0, freeAt - clock.monotonicMs());
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

function count(state: State, segments: number, lateMs = 0): void {
  state.freeAt = Math.max(state.freeAt, state.clock.monotonicMs() - lateMs) + state.costMs(segments);
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
