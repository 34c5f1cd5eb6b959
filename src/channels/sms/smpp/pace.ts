import type { Clock } from "../../../core/clock.ts";

/**
 * How fast a connector sends, in segments a second: as it is configured to, or slower where the SMSC has said that
 * this is too fast. Then the rate is halved, and grows again by a twentieth of what was too fast each second.
 */
export interface Pace {
  /** Segments that may go now; infinite without a rate. */
  available(): number;
  /** Segments that may go now or in a moment. */
  soon(): number;
  take(): void;
  /** Milliseconds until a segment may go; 0 if one may. */
  waitMs(): number;
  /** The SMSC has taken a segment. */
  accepted(): void;
  /**
   * The SMSC says that this is too fast, of a segment sent at `sentAtMs` (monotonic), and nothing goes for `pauseMs`.
   * What was sent before the last slowing down says nothing about the new rate.
   */
  slowDown(refusal: { readonly sentAtMs: number; readonly pauseMs: number }): void;
  /** What of the configured rate is this process's from now on: more than 0, and 1 at the most. */
  setPart(part: number): void;
  /** `undefined` without a rate. */
  rate(): { readonly perSecond: number; readonly isReduced: boolean } | undefined;
}

/** Sent at once at the most, in seconds' worth: the SMSC counts by seconds that begin when it pleases. */
const BURST_S = 0.25;

/** What a segment may wait here in place of the queue, in seconds. */
const SOON_S = 0.05;

/** A pace that nobody set is kept until it has grown to so many times what was too fast. */
const LIFTED_AT = 4;

const GROWTH_PER_S = 0.05;
const LEAST_GROWTH_PER_S = 0.2;
const LEAST_RATE = 1;

interface State {
  readonly clock: Clock;
  ceiling: number;
  readonly counted: ReturnType<typeof countBySecond>;
  rate: number;
  tokens: number;
  filledAt: number;
  /** While the rate is reduced. */
  reduced: { readonly atMs: number; readonly growthPerS: number; readonly endsAt: number } | undefined;
}

/** @param perSecond absent: as fast as the windows allow, until the SMSC says otherwise */
export function createPace(clock: Clock, perSecond = Number.POSITIVE_INFINITY): Pace {
  const state: State = {
    clock,
    ceiling: perSecond,
    counted: countBySecond(clock),
    rate: perSecond,
    tokens: burst(perSecond),
    filledAt: clock.monotonicMs(),
    reduced: undefined,
  };
  const now = () => clock.monotonicMs();
  return {
    available() {
      if (isFree(state)) return Number.POSITIVE_INFINITY;
      refill(state);
      return state.filledAt > now() ? 0 : Math.floor(state.tokens);
    },
    soon() {
      if (isFree(state)) return Number.POSITIVE_INFINITY;
      refill(state);
      return state.filledAt > now() ? 0 : Math.floor(state.tokens + state.rate * SOON_S);
    },
    take() {
      if (isFree(state)) return;
      refill(state);
      if (Number.isFinite(state.rate)) state.tokens -= 1;
    },
    waitMs() {
      refill(state);
      const missing = Math.max(0, 1 - state.tokens);
      return Math.max(0, state.filledAt - now()) + Math.ceil((missing / state.rate) * 1000);
    },
    accepted: state.counted.add,
    slowDown: (refusal) => slowDown(state, refusal),
    setPart(part) {
      if (Number.isFinite(perSecond) && perSecond * part !== state.ceiling)
        setCeiling(state, perSecond * part);
    },
    rate() {
      if (isFree(state)) return undefined;
      refill(state);
      const { rate, reduced } = state;
      return Number.isFinite(rate) ? { perSecond: rate, isReduced: reduced !== undefined } : undefined;
    },
  };
}

/** Nobody has set a pace, and nobody asks for one: then the time need not be known. */
function isFree({ rate, reduced }: State): boolean {
  return rate === Number.POSITIVE_INFINITY && reduced === undefined;
}

/** While the pace rests, `filledAt` lies ahead and nothing is added. */
function refill(state: State): void {
  const nowMs = state.clock.monotonicMs();
  const seconds = (nowMs - state.filledAt) / 1000;
  if (seconds <= 0) return;
  state.filledAt = nowMs;
  const { reduced } = state;
  if (reduced) {
    state.rate += reduced.growthPerS * seconds;
    if (state.rate >= reduced.endsAt) endReduction(state);
  }
  if (Number.isFinite(state.rate)) {
    state.tokens = Math.min(burst(state.rate), state.tokens + state.rate * seconds);
  }
}

function endReduction(state: State): void {
  state.reduced = undefined;
  state.rate = state.ceiling;
  state.tokens = Math.max(state.tokens, Number.isFinite(state.rate) ? 0 : burst(state.rate));
}

/** Others may have sent what this process's part has grown by: it begins to fill from now on. */
function setCeiling(state: State, ceiling: number): void {
  refill(state);
  state.ceiling = ceiling;
  state.rate = state.reduced ? Math.min(state.rate, ceiling) : ceiling;
  if (state.reduced) state.reduced = { ...state.reduced, endsAt: ceiling };
  state.tokens = Math.min(state.tokens, 1);
}

function slowDown(state: State, { sentAtMs, pauseMs }: Parameters<Pace["slowDown"]>[0]): void {
  refill(state);
  const nowMs = state.clock.monotonicMs();
  if (pauseMs > 0) {
    state.filledAt = Math.max(state.filledAt, nowMs + pauseMs);
    state.tokens = 1;
  }
  const { reduced, ceiling } = state;
  if (reduced && sentAtMs <= reduced.atMs) return;
  const tooFast = Number.isFinite(state.rate) ? state.rate : Math.max(LEAST_RATE, state.counted.perSecond());
  const isFirst = reduced === undefined;
  state.rate = Math.max(Math.min(LEAST_RATE, ceiling), tooFast / 2);
  state.tokens = Math.min(state.tokens, burst(state.rate));
  state.reduced = {
    atMs: nowMs,
    growthPerS: Math.max(LEAST_GROWTH_PER_S, tooFast * GROWTH_PER_S),
    endsAt: Number.isFinite(ceiling) ? ceiling : isFirst ? tooFast * LIFTED_AT : reduced.endsAt,
  };
}

function burst(rate: number): number {
  return Math.max(1, rate * BURST_S);
}

/** How many there were in the second that is passing or the one before, whichever had more. */
function countBySecond(clock: Clock) {
  let second = 0;
  let count = 0;
  let before = 0;
  const turn = () => {
    const current = Math.floor(clock.monotonicMs() / 1000);
    if (current === second) return;
    before = current === second + 1 ? count : 0;
    count = 0;
    second = current;
  };
  return {
    add() {
      turn();
      count++;
    },
    perSecond() {
      turn();
      return Math.max(count, before);
    },
  };
}
