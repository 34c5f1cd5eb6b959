import type { Clock, Random } from "../../core/clock.ts";
import type { Lane, PausedHost } from "../../core/webhooks/webhook-outbox.ts";
import type { HostSign } from "../judge.ts";
import { admits, afterTry, type Circuit, CLOSED } from "./circuit.ts";
import { type Budgets, createSlots, type Pace, type Slots } from "./slots.ts";

/** Decides what may be delivered now. A dead or slow host holds up nobody else, and no account another one. */
export interface Lanes {
  /** How many deliveries of the lane may begin now; what a claim should bring at the most. */
  room(lane: Lane): number;
  /** Begins a delivery; `undefined` if there is no room. */
  enter(lane: Lane): Pass | undefined;
  /** Only others stand in its way: there is room when any of them leaves. */
  isCrowdedOut(lane: Lane): boolean;
  /** Lanes that are not tried at the moment, and why: for operators. */
  paused(): readonly PausedHost[];
  underWay(): number;
}

export interface Pass {
  /** The delivery is over, after `ms`. Once. */
  leave(sign: HostSign, ms: number): void;
}

export interface LanesDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** There may be room for the lane, and one more for all others. */
  readonly onRoom: (lane: Lane) => void;
  /** The lane is not tried for a while, from now on. */
  readonly onPaused?: (paused: PausedHost) => void;
  readonly budgets?: Budgets;
  /** Lanes remembered; beyond it the one unused for longest is forgotten, its pause too. */
  readonly maxLanes?: number;
}

/** A thousand hosts that time out fit into the slow ones; proven hosts have a quarter of all to themselves. */
const BUDGETS: Budgets = { total: 2_048, unproven: 1_536, slow: 1_024 };
const MAX_LANES = 20_000;

export function createLanes(deps: LanesDeps): Lanes {
  const { clock, onRoom } = deps;
  const slots = createSlots(deps.budgets ?? BUDGETS);
  const memory = createMemory(deps.maxLanes ?? MAX_LANES);

  const leave = (state: LaneState, pace: Pace, { sign, ms }: { sign: HostSign; ms: number }) => {
    slots.giveBack(state.lane.accountId, pace);
    state.underWay--;
    learn(state, { sign, ms });
    const now = clock.monotonicMs();
    const wasOpen = state.circuit.openUntil !== undefined;
    state.circuit = afterTry(state.circuit, sign, { now, jitter: deps.random() });
    const paused = wasOpen ? undefined : toPaused(state, { now, wallNow: clock.now() });
    if (paused) deps.onPaused?.(paused);
    state.cancelWake();
    const { openUntil = now } = state.circuit;
    if (openUntil > now) state.cancelWake = clock.after(openUntil - now, () => onRoom(state.lane));
    onRoom(state.lane);
  };

  return {
    room: (lane) => roomOf(memory.peek(lane), slots, clock.monotonicMs()),
    enter(lane) {
      if (roomOf(memory.peek(lane), slots, clock.monotonicMs()) === 0) return undefined;
      const state = memory.touch(lane);
      const { pace } = state;
      state.underWay++;
      slots.take(lane.accountId, pace);
      return { leave: (sign, ms) => leave(state, pace, { sign, ms }) };
    },
    isCrowdedOut: (lane) => ownRoomOf(memory.peek(lane), clock.monotonicMs()) > 0,
    paused() {
      const now = clock.monotonicMs();
      return memory.all().flatMap((state) => toPaused(state, { now, wallNow: clock.now() }) ?? []);
    },
    underWay: slots.taken,
  };
}

interface LaneState {
  readonly lane: Lane;
  circuit: Circuit;
  pace: Pace;
  /** What a delivery takes, the last ones counting most. */
  typicalMs: number;
  /** The most at once. */
  width: number;
  underWay: number;
  cancelWake: () => void;
}

const SLOW_MS = 1_000;

/** Assumed of a lane that is not known; one bad second alone makes no host slow, a delivery that times out does. */
const ASSUMED_MS = 500;
const WEIGHT_OF_LAST = 0.25;

/** A new lane begins narrow, grows with every success, and halves with every failure. */
const WIDTH = { first: 1, quick: 64, slow: 8 };

function learn(state: LaneState, { sign, ms }: { sign: HostSign; ms: number }): void {
  if (sign.kind === "nothing") return;
  state.typicalMs += (ms - state.typicalMs) * WEIGHT_OF_LAST;
  if (state.typicalMs < SLOW_MS) state.pace = "quick";
  else state.pace = sign.kind === "well" ? "unproven" : "slow";
  const most = state.pace === "quick" ? WIDTH.quick : WIDTH.slow;
  if (sign.kind === "well" && state.width <= most) state.width = Math.min(most, state.width + 1);
  else state.width = Math.max(sign.kind === "well" ? most : 1, state.width >> 1);
}

function roomOf(state: LaneState, slots: Slots, now: number): number {
  const own = ownRoomOf(state, now);
  return own === 0 ? 0 : Math.min(own, slots.free(state.lane.accountId, state.pace));
}

/** Where no others are looked at. */
function ownRoomOf({ circuit, width, underWay }: LaneState, now: number): number {
  const admitted = admits(circuit, now);
  if (admitted === "none") return 0;
  return Math.max(0, (admitted === "one" ? 1 : width) - underWay);
}

function toPaused(
  { lane, circuit }: LaneState,
  { now, wallNow }: { now: number; wallNow: number },
): PausedHost | undefined {
  const { openUntil, failures, reason } = circuit;
  if (openUntil === undefined) return undefined;
  return { ...lane, until: wallNow + Math.max(0, openUntil - now), failures, reason };
}

/** Lanes in the order of their use. */
function createMemory(maxLanes: number) {
  const states = new Map<string, LaneState>();
  const keyOf = ({ accountId, host }: Lane) => `${accountId} ${host}`;

  const peek = (lane: Lane): LaneState => states.get(keyOf(lane)) ?? newLane(lane);
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
    touch(lane: Lane): LaneState {
      const state = peek(lane);
      states.delete(keyOf(lane));
      if (states.size >= maxLanes) forgetOne();
      states.set(keyOf(lane), state);
      return state;
    },
    all: () => [...states.values()],
  };
}

function newLane(lane: Lane): LaneState {
  return {
    lane,
    circuit: CLOSED,
    pace: "unproven",
    typicalMs: ASSUMED_MS,
    width: WIDTH.first,
    underWay: 0,
    cancelWake: () => {},
  };
}
