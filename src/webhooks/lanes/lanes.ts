import type { Clock, Random } from "../../core/clock.ts";
import type { Lane, PausedHost } from "../../core/webhooks/webhook-outbox.ts";
import type { HostHealth } from "../judge.ts";
import { admits, afterAttempt, type Circuit, isForNewest, UNPROVEN } from "./circuit.ts";
import { createFailingUrls, type FailingUrls } from "./failing-urls.ts";
import { laneKey } from "./lane-key.ts";
import { type Budgets, createSlots, type ServiceClass, type Slots } from "./slots.ts";

/**
 * Decides how many deliveries may be under way, so that a dead or slow host delays no other host, and no account another
 * one. Three limits apply to each lane: its circuit (`circuit.ts`), its concurrency (how many deliveries at once its host
 * has proven to manage), and the slots shared by all lanes (`slots.ts`).
 */
export interface Lanes {
  /** How many deliveries of the lane may begin now. */
  room(lane: Lane): number;
  /** Takes the room for one delivery; `undefined` if there is none. */
  acquire(lane: Lane): Permit | undefined;
  /** True if it has no room only because of other lanes: there may be room when any of their deliveries ends. */
  isCrowdedOut(lane: Lane): boolean;
  /** Lanes that this process does not try at the moment, or tries once after a pause, and why: for operators. */
  paused(): readonly PausedHost[];
  /** How many permits of all lanes are acquired and not yet released. */
  underWay(): number;
}

/** The room for one delivery. */
export interface Permit {
  /** Whether to deliver the newest event of the lane in place of the oldest. */
  readonly isForNewest: boolean;
  /** Present if URLs of the host fail. Then this is true of them: rather one of the newest events for another URL is to be delivered. */
  readonly avoids?: (url: string) => boolean;
  /**
   * Gives the room back. `health` is what the delivery to `url` says about the host, `ms` how long it took. To be called exactly
   * once; with `unknown` and 0 if nothing was sent.
   */
  release(health: HostHealth, ms: number, url?: string): void;
}

export interface LanesDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** Called when a delivery of the lane, or its pause, has ended: it may have room, and there is one more place for all others. */
  readonly onRoom: (lane: Lane) => void;
  /**
   * Called when a lane is paused for some seconds or more; not again until it was well. Shorter pauses are many where a host limits
   * its rate.
   */
  readonly onPaused?: (paused: PausedHost) => void;
  /** The most lanes to remember. Beyond that, the one unused for longest is forgotten, with its pause. */
  readonly maxLanes?: number;
}

/** A thousand hosts that time out fit into `failing`; a quarter of the total is left to quick hosts. */
const BUDGETS: Budgets = { quick: 2_048, new: 1_536, slow: 1_280, failing: 1_024 };
const MAX_LANES = 20_000;

/** The shortest pause that is told of. */
const LEAST_TOLD_MS = 2_000;

export function createLanes(deps: LanesDeps): Lanes {
  const { clock, onRoom } = deps;
  const slots = createSlots(BUDGETS);
  const states = createLaneStates(deps.maxLanes ?? MAX_LANES);

  const release = (
    state: LaneState,
    serviceClass: ServiceClass,
    { health: seen, ms, url }: { health: HostHealth; ms: number; url: string },
  ) => {
    slots.giveBack(state.lane.accountId, serviceClass);
    state.underWay--;
    const now = clock.monotonicMs();
    const health = ofHost(state, { health: seen, url }, now);
    // One URL or not, a server that makes errors is not asked for more at once.
    learn(state, { health: isServerError(seen) ? seen : health, ms });
    state.circuit = afterAttempt(state.circuit, health, { now, jitter: deps.random() });
    const { openUntil = now } = state.circuit;
    tellOfPause(deps, state, now);
    state.cancelWake();
    if (openUntil > now) state.cancelWake = clock.after(openUntil - now, () => onRoom(state.lane));
    onRoom(state.lane);
  };

  return {
    room: (lane) => roomOf(states.peek(lane), slots, clock.monotonicMs()),
    acquire(lane) {
      if (roomOf(states.peek(lane), slots, clock.monotonicMs()) === 0) return undefined;
      const state = states.touch(lane);
      const { serviceClass } = state;
      state.underWay++;
      slots.take(lane.accountId, serviceClass);
      return {
        ...choiceOf(state),
        release: (health, ms, url = "") => release(state, serviceClass, { health, ms, url }),
      };
    },
    isCrowdedOut: (lane) => ownRoomOf(states.peek(lane), clock.monotonicMs()) > 0,
    paused() {
      const now = clock.monotonicMs();
      return states.all().flatMap((state) => toPaused(state, { now, wallNow: clock.now() }) ?? []);
    },
    underWay: slots.taken,
  };
}

/** Calls `onPaused`, if that is due. */
function tellOfPause({ clock, onPaused }: LanesDeps, state: LaneState, now: number): void {
  const { openUntil } = state.circuit;
  if (openUntil === undefined) state.isToldOf = false;
  if (state.isToldOf || (openUntil ?? now) - now < LEAST_TOLD_MS) return;
  const paused = toPaused(state, { now, wallNow: clock.now() });
  if (!paused) return;
  state.isToldOf = true;
  onPaused?.(paused);
}

interface LaneState {
  readonly lane: Lane;
  circuit: Circuit;
  serviceClass: ServiceClass;
  /** How long a delivery takes: a moving average in which the last ones count most. */
  typicalMs: number;
  /** The most deliveries that may be under way at once. */
  concurrency: number;
  underWay: number;
  /** Whether it was told that the lane is paused. */
  isToldOf: boolean;
  readonly failingUrls: FailingUrls;
  cancelWake: () => void;
}

function choiceOf({ circuit, failingUrls }: LaneState): Pick<Permit, "isForNewest" | "avoids"> {
  const isNewest = isForNewest(circuit);
  return { isForNewest: isNewest, ...(isNewest && failingUrls.size() > 0 && { avoids: failingUrls.has }) };
}

/** What a delivery says about the host: little, if only its URL fails. While the host is paused, nobody knows that, and each counts. */
function ofHost(
  { circuit, failingUrls }: LaneState,
  { health, url }: { health: HostHealth; url: string },
  now: number,
): HostHealth {
  const isOfUrl = failingUrls.learn(url, health, now) && circuit.openUntil === undefined;
  return isOfUrl ? { kind: "answering" } : health;
}

function isServerError(health: HostHealth): boolean {
  return health.kind === "failing" && health.isServerError === true;
}

const SLOW_MS = 1_000;

/** `typicalMs` of a new lane: one delivery that takes a second does not make it slow, but one that times out does. */
const ASSUMED_MS = 500;
const WEIGHT_OF_LAST = 0.25;

/** A new lane begins with one delivery at a time. Every success (or 410) allows one more, every failure half as many. */
const CONCURRENCY = { first: 1, quick: 64, slow: 8 };

function learn(state: LaneState, { health, ms }: { health: HostHealth; ms: number }): void {
  if (health.kind === "unknown") return;
  state.typicalMs += (ms - state.typicalMs) * WEIGHT_OF_LAST;
  if (state.typicalMs < SLOW_MS) state.serviceClass = "quick";
  else state.serviceClass = health.kind === "failing" ? "failing" : "slow";
  const most = state.serviceClass === "quick" ? CONCURRENCY.quick : CONCURRENCY.slow;
  const half = Math.floor(state.concurrency / 2);
  if (health.kind === "failing") state.concurrency = Math.max(1, half);
  else if (state.concurrency > most) state.concurrency = Math.max(most, half);
  else state.concurrency = Math.min(most, state.concurrency + 1);
}

function roomOf(state: LaneState, slots: Slots, now: number): number {
  const own = ownRoomOf(state, now);
  return own === 0 ? 0 : Math.min(own, slots.free(state.lane.accountId, state.serviceClass));
}

/** The lane's room if it were the only one. */
function ownRoomOf({ circuit, concurrency, underWay }: LaneState, now: number): number {
  const admitted = admits(circuit, now);
  if (admitted === "none") return 0;
  return Math.max(0, (admitted === "one" ? 1 : concurrency) - underWay);
}

/** Not once its pause is over and nothing is tried: then nothing may be left that waits for it, and it would be shown for ever. */
function toPaused(
  { lane, circuit, underWay }: LaneState,
  { now, wallNow }: { now: number; wallNow: number },
): PausedHost | undefined {
  const { openUntil, failures, reason } = circuit;
  if (openUntil === undefined || (openUntil <= now && underWay === 0)) return undefined;
  return { ...lane, until: Math.round(wallNow + Math.max(0, openUntil - now)), failures, reason };
}

/** The remembered lanes, the one unused for longest first. */
function createLaneStates(maxLanes: number) {
  const states = new Map<string, LaneState>();

  /** A lane that is not remembered has the state of a new one. */
  const peek = (lane: Lane): LaneState => states.get(laneKey(lane)) ?? newLane(lane);
  const forgetOne = () => {
    for (const [key, state] of states) {
      if (state.underWay > 0) continue;
      state.cancelWake();
      states.delete(key);
      return;
    }
  };
  return {
    peek,
    /** Remembers the lane as the one used last. */
    touch(lane: Lane): LaneState {
      const state = peek(lane);
      states.delete(laneKey(lane));
      if (states.size >= maxLanes) forgetOne();
      states.set(laneKey(lane), state);
      return state;
    },
    all: () => [...states.values()],
  };
}

function newLane(lane: Lane): LaneState {
  return {
    lane,
    circuit: UNPROVEN,
    serviceClass: "new",
    typicalMs: ASSUMED_MS,
    concurrency: CONCURRENCY.first,
    underWay: 0,
    isToldOf: false,
    failingUrls: createFailingUrls(),
    cancelWake: () => {},
  };
}
