import type { Clock } from "../../../../core/clock.ts";
import { createRateWindow, type RateWindow } from "../../../../core/work/rate-window.ts";

/**
 * How fast a connector sends, in segments per second: at its configured rate, or slower after the SMSC has refused a segment as
 * too fast. Then the rate is halved, and grows each second by a twentieth of the rate that was too fast. Beyond that rate it doubles
 * every ten seconds: what was too fast is so no more, and after an SMSC has refused everything for a while, that was far below what
 * it takes. As long as it is not known how much the SMSC takes, the rate doubles each second instead, until the SMSC refuses again.
 */
export interface Pace {
  /** How many segments may be sent now; infinite without a rate. */
  available(): number;
  /** How many segments may be sent now or within `SOON_S`. */
  soon(): number;
  take(): void;
  /** Milliseconds until a segment may be sent; 0 if one may be sent now. */
  waitMs(): number;
  /** To be called when the SMSC has taken a segment. */
  accepted(): void;
  /**
   * To be called when the SMSC has refused, as too fast, a segment that was sent at `sentAtMs` (monotonic). Nothing is sent for
   * `pauseMs`. The rate is reduced, unless the segment was sent before the last reduction: then it says nothing about the
   * present rate.
   */
  slowDown(refusal: { readonly sentAtMs: number; readonly pauseMs: number }): void;
  /** Sets this process's part of the configured rate: more than 0, at most 1. */
  setPart(part: number): void;
  /** Changes the configured rate; `undefined`: there is none. What was found out of the rate that the SMSC takes still holds. */
  setRate(perSecond: number | undefined): void;
  /** The present rate; `undefined` if there is none. */
  rate(): { readonly perSecond: number; readonly isReduced: boolean } | undefined;
}

/** The largest burst, in seconds' worth of segments. After a burst, sending is slower until the second is over. */
const BURST_S = 0.25;

/** How long, in seconds, a segment may wait here rather than in the queue. */
const SOON_S = 0.05;

/** If no rate is configured, a reduction ends when the rate has grown to this many times the one that was too fast. */
const LIFTED_AT = 4;

/** If it was not known what rate is too fast, a reduction ends at this rate at the earliest. */
const LEAST_LIFTED_AT = 1_000;

const GROWTH_PER_S = 0.05;
const LEAST_GROWTH_PER_S = 0.2;
const DOUBLES_IN_S = 10;
const LEAST_RATE = 1;

interface State {
  readonly clock: Clock;
  ceiling: number;
  readonly counted: ReturnType<typeof countBySecond>;
  rate: number;
  tokens: number;
  filledAt: number;
  /** What was sent lately, for the limit `ceiling`. */
  window: RateWindow;
  reduced: Reduction | undefined;
}

/** A reduction of the rate, while it lasts. */
interface Reduction {
  /** When the rate was last reduced, on the monotonic clock. */
  readonly atMs: number;
  /** The rate that was too fast; `undefined` if it is not known how much the SMSC takes. */
  readonly tooFast: number | undefined;
  /** The rate at which the reduction ends if none is configured: one that is surely beyond what was too fast at first, or since. */
  readonly liftedAt: number;
}

/**
 * @param perSecond absent: as fast as the windows allow, until the SMSC says otherwise
 * @param isUsed the rate of this second may have been used already, by segments that were not counted here
 */
export function createPace(clock: Clock, perSecond = Number.POSITIVE_INFINITY, isUsed = false): Pace {
  const state: State = {
    clock,
    ceiling: perSecond,
    counted: countBySecond(clock),
    rate: perSecond,
    tokens: isUsed ? 0 : burst(perSecond),
    filledAt: clock.monotonicMs(),
    window: windowOf(perSecond),
    reduced: undefined,
  };
  const configured = { perSecond, part: 1 };
  const set = (change: Partial<typeof configured>) => {
    Object.assign(configured, change);
    const ceiling = configured.perSecond * configured.part;
    if (ceiling !== state.ceiling) setCeiling(state, ceiling);
  };
  const now = () => clock.monotonicMs();
  if (isUsed && !isUnlimited(state)) for (let n = 0; n < perSecond; n++) state.window.took(now());
  return {
    available: () => allowed(state, 0),
    soon: () => allowed(state, SOON_S),
    take() {
      if (isUnlimited(state)) return;
      refill(state);
      state.tokens -= 1;
      state.window.took(now());
    },
    waitMs() {
      refill(state);
      const missing = Math.max(0, 1 - state.tokens);
      const tokenMs = Math.max(0, state.filledAt - now()) + Math.ceil((missing / state.rate) * 1000);
      return Math.max(tokenMs, state.window.waitMs(now()));
    },
    accepted: state.counted.add,
    slowDown: (refusal) => slowDown(state, refusal),
    setPart: (part) => set({ part }),
    setRate: (changed = Number.POSITIVE_INFINITY) => set({ perSecond: changed }),
    rate() {
      if (isUnlimited(state)) return undefined;
      refill(state);
      const { rate, reduced } = state;
      return Number.isFinite(rate) ? { perSecond: rate, isReduced: reduced !== undefined } : undefined;
    },
  };
}

/** Whether no rate is configured, and the SMSC has asked for none. Then not even the time is read. */
function isUnlimited({ rate, reduced }: State): boolean {
  return rate === Number.POSITIVE_INFINITY && reduced === undefined;
}

/** How many segments may be sent within these seconds; 0 during a pause. */
function allowed(state: State, inS: number): number {
  if (!isUnlimited(state)) refill(state);
  // Refilling may just have ended a reduction.
  if (isUnlimited(state)) return Number.POSITIVE_INFINITY;
  const nowMs = state.clock.monotonicMs();
  if (state.filledAt > nowMs) return 0;
  return Math.min(Math.floor(state.tokens + state.rate * inS), state.window.room(nowMs + inS * 1000));
}

/** Adds the tokens, and the growth, of the time since `filledAt`. During a pause that is in the future, and nothing is added. */
function refill(state: State): void {
  const nowMs = state.clock.monotonicMs();
  const seconds = (nowMs - state.filledAt) / 1000;
  if (seconds <= 0) return;
  const fullMs = Math.min(state.window.waitMs(state.filledAt), nowMs - state.filledAt);
  state.filledAt = nowMs;
  const { reduced } = state;
  if (reduced) {
    state.rate = grown(state.rate, reduced, seconds);
    if (state.rate >= endOf(reduced, state.ceiling)) {
      state.reduced = undefined;
      state.rate = state.ceiling;
    }
  }
  const { rate, tokens } = state;
  // While the second is full, no more than one token is saved: otherwise a burst would lead to another one each second.
  const held = fullMs > 0 ? Math.max(tokens, Math.min(1, tokens + (rate * fullMs) / 1000)) : tokens;
  state.tokens = Math.min(burst(rate), held + rate * (seconds - fullMs / 1000));
}

/** The rate after some seconds without a refusal. */
function grown(rate: number, { tooFast }: Reduction, seconds: number): number {
  if (tooFast === undefined) return rate * 2 ** seconds;
  const growthPerS = Math.max(LEAST_GROWTH_PER_S, tooFast * GROWTH_PER_S);
  const slowS = Math.max(0, (tooFast - rate) / growthPerS);
  if (seconds <= slowS) return rate + growthPerS * seconds;
  return Math.max(rate, tooFast) * 2 ** ((seconds - slowS) / DOUBLES_IN_S);
}

/** After the part has grown, no more than one token is kept: another process may just have used up the difference. */
function setCeiling(state: State, ceiling: number): void {
  refill(state);
  state.ceiling = ceiling;
  state.window = windowOf(ceiling, state.window);
  state.rate = state.reduced ? Math.min(state.rate, ceiling) : ceiling;
  state.tokens = Math.min(state.tokens, 1);
}

/** The rate at which a reduction ends. */
function endOf({ liftedAt }: Reduction, ceiling: number): number {
  return Number.isFinite(ceiling) ? ceiling : liftedAt;
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
  const isKnown = Number.isFinite(state.rate) || state.counted.isSteady();
  const tooFast = Number.isFinite(state.rate) ? state.rate : Math.max(LEAST_RATE, state.counted.perSecond());
  // Where a rate is configured, it may have grown beyond the rate at which it would have ended without.
  const isBeyond = reduced?.tooFast === undefined || tooFast >= reduced.liftedAt;
  const liftedAt = isKnown ? tooFast * LIFTED_AT : Math.max(LEAST_LIFTED_AT, tooFast * LIFTED_AT);
  state.rate = Math.max(Math.min(LEAST_RATE, ceiling), tooFast / 2);
  state.tokens = Math.min(state.tokens, burst(state.rate));
  state.reduced = {
    atMs: nowMs,
    tooFast: isKnown ? tooFast : undefined,
    liftedAt: isBeyond ? liftedAt : reduced.liftedAt,
  };
}

/** The window of a rate. If the largest burst is one segment, segments go one by one, and a margin would only slow them down. */
function windowOf(ceiling: number, before = createRateWindow(Number.POSITIVE_INFINITY)): RateWindow {
  return burst(ceiling) > 1 ? before.withRate(ceiling) : before.withRate(ceiling, 0);
}

function burst(rate: number): number {
  return Math.max(1, rate * BURST_S);
}

/**
 * Counts events second by second. `perSecond` is the count of this second or the one before, whichever is higher. The count is
 * steady if the second before had at least half as many: a burst does not tell what rate can be kept up.
 */
function countBySecond(clock: Clock) {
  let second = 0;
  let count = 0;
  let previous = 0;
  const turn = () => {
    const current = Math.floor(clock.monotonicMs() / 1000);
    if (current === second) return;
    previous = current === second + 1 ? count : 0;
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
      return Math.max(count, previous);
    },
    isSteady() {
      turn();
      return previous > 0 && previous * 2 >= count;
    },
  };
}
