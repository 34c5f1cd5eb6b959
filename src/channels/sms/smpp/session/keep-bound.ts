import type { Clock, Random } from "../../../../core/clock.ts";
import { errorText } from "../../../../core/error-text.ts";
import { inTime } from "../../../../core/work/in-time.ts";
import type { ChannelStatus } from "../../../channel.ts";
import type { CredentialGate } from "./credential-gate.ts";
import { RIVAL_REASON, type Rivals } from "./rivals.ts";
import type { Session, SessionEnd, SessionEvents } from "./session.ts";

/** Keeps one bind up: opens its session, and a new one whenever that ends. */
export interface BoundLink {
  /** Connects, and keeps connected from then on. Only the first call counts. */
  start(): void;
  /** The session, if it is bound and takes work. */
  session(): Session | undefined;
  /**
   * Leaves the session once all outstanding answers have come, or after 10 s; then opens another. Does nothing if the session has
   * been bound for less than `minAgeMs`; absent: 0.
   */
  replace(reason: string, minAgeMs?: number): void;
  /** Leaves the session for good, once all outstanding answers have come or are overdue; after `limitMs` in any case. */
  stop(limitMs?: number): Promise<void>;
  status(): LinkStatus;
}

export type LinkStatus = Pick<ChannelStatus, "state" | "reason">;

export interface LinkDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** Opens a session. `turn`: how many were opened before it. */
  readonly open: (events: Pick<SessionEvents, "onBound" | "onEnd">, turn: number) => Session;
  /** Called when the status may have changed. */
  readonly onStatus: () => void;
  readonly gate: CredentialGate;
  readonly rivals: Rivals;
  /** Resolves when no attempt waits for an answer any more: then a session can be left without waiting for answers. */
  readonly nobodyWaits: () => Promise<void>;
}

const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;

/** How long to wait for outstanding answers of an SMSC that has called its session broken: until it is left, there is no other. */
const BROKEN_LIMIT_MS = 10_000;

/**
 * After a session that lasted this long, the next failure counts as the first. Not longer: otherwise, if an SMSC ends sessions
 * once a minute, or after half a minute without traffic, the waits would grow and grow.
 */
const STABLE_MS = 10_000;

interface State {
  readonly deps: LinkDeps;
  status: LinkStatus;
  phase: "new" | "running" | "stopping";
  /** The current session, bound or not. */
  opened: Session | undefined;
  /** The current session while it takes work. */
  usable: Session | undefined;
  boundAt: number | undefined;
  failures: number;
  turn: number;
  cancelRetry: () => void;
  /** Resolves when the current session has ended. */
  ended: PromiseWithResolvers<void>;
  stopped: Promise<void> | undefined;
}

export function keepBound(deps: LinkDeps): BoundLink {
  const state: State = {
    deps,
    status: { state: "stopped" },
    phase: "new",
    opened: undefined,
    usable: undefined,
    boundAt: undefined,
    failures: 0,
    turn: 0,
    cancelRetry: () => {},
    ended: Promise.withResolvers(),
    stopped: undefined,
  };
  return {
    start() {
      if (state.phase !== "new") return;
      state.phase = "running";
      connect(state);
    },
    session: () => state.usable,
    replace(reason, minAgeMs = 0) {
      if (state.usable && ageMs(state) >= minAgeMs) void leaveSession(state, reason, BROKEN_LIMIT_MS);
    },
    stop(limitMs) {
      state.stopped ??= stop(state);
      if (limitMs !== undefined) cutAfter(state, limitMs);
      return state.stopped;
    },
    status: () => state.status,
  };
}

function connect(state: State): void {
  const { gate, rivals } = state.deps;
  const rivalMs = rivals.holdMs(state);
  if (rivalMs > 0) {
    // It is down already. Down again, it is told with this reason.
    setStatus(state, "connecting", state.status.reason);
    return void hold(state, rivalMs, RIVAL_REASON);
  }
  const gateMs = gate.holdMs(state);
  if (gateMs > 0) return void hold(state, gateMs, gate.reason());
  setStatus(state, "connecting", state.status.reason);
  open(state);
}

function open(state: State): void {
  state.ended = Promise.withResolvers();
  try {
    const events = {
      onBound: (session: Session) => bound(state, session),
      onEnd: (end: SessionEnd) => ended(state, end),
    };
    state.opened = state.deps.open(events, state.turn++);
  } catch (error) {
    // This only throws because of a setting: a certificate that cannot be read, an impossible host name.
    ended(state, { reason: errorText(error), isCredentialFault: true });
  }
}

function hold(state: State, holdMs: number, reason: string): void {
  setStatus(state, "down", reason);
  state.cancelRetry = state.deps.clock.after(holdMs, () => connect(state));
}

function bound(state: State, session: Session): void {
  state.usable = session;
  state.boundAt = state.deps.clock.monotonicMs();
  state.deps.gate.passed(state);
  state.deps.rivals.passed(state);
  setStatus(state, "up", undefined);
}

function ended(state: State, end: SessionEnd): void {
  const heldMs = ageMs(state);
  state.deps.gate.left(state);
  state.deps.rivals.left(state, state.usable !== undefined && end.wasLeft === undefined);
  state.opened = undefined;
  state.usable = undefined;
  state.boundAt = undefined;
  state.ended.resolve();
  if (state.phase === "stopping") return;
  state.failures = heldMs >= STABLE_MS ? 1 : state.failures + 1;
  const delayMs = end.isCredentialFault
    ? state.deps.gate.refused(state, end.reason)
    : backoffMs(state.failures, state.deps.random());
  setStatus(state, "down", end.isCredentialFault ? state.deps.gate.reason() : end.reason);
  state.cancelRetry = state.deps.clock.after(delayMs, () => connect(state));
}

/** How long the session has been bound. */
function ageMs({ boundAt, deps }: State): number {
  return boundAt === undefined ? 0 : deps.clock.monotonicMs() - boundAt;
}

/** 1 s, doubling up to 60 s, less a random part of up to a half, so that many binds do not come back at once. */
function backoffMs(failures: number, chance: number): number {
  const delay = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures - 1, 6));
  return delay * (0.5 + chance / 2);
}

/** Takes no more work, waits for outstanding answers, and unbinds. */
async function leaveSession(state: State, reason: string, limitMs: number): Promise<void> {
  const { opened: session, deps } = state;
  if (!session) return;
  state.usable = undefined;
  session.slots.close();
  const limit = { limitMs, late: () => {} };
  await inTime(deps.clock, limit, Promise.race([session.slots.drained(), deps.nobodyWaits()]));
  session.unbind(reason);
}

async function stop(state: State): Promise<void> {
  state.phase = "stopping";
  state.cancelRetry();
  state.deps.gate.gone(state);
  if (state.opened) {
    if (state.boundAt === undefined) state.opened.destroy("stopped");
    // As long as ever: a change of settings is no reason for a message to be in doubt, and to be sent twice.
    else await leaveSession(state, "stopped", state.opened.responseTimeoutMs);
    await state.ended.promise;
  }
  setStatus(state, "stopped", undefined);
}

/** Destroys the session after `limitMs`, unless it ends before. */
function cutAfter(state: State, limitMs: number): void {
  const cancel = state.deps.clock.after(limitMs, () =>
    state.opened?.destroy("its place went to another process"),
  );
  void state.ended.promise.then(cancel);
}

function setStatus(state: State, to: LinkStatus["state"], reason: string | undefined): void {
  state.status = { state: to, ...(reason === undefined ? {} : { reason }) };
  state.deps.onStatus();
}
