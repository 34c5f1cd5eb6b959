import type { Clock } from "../../../core/clock.ts";
import type { ChannelStatus } from "../../channel.ts";
import type { Judgement } from "./judge-answer.ts";

/** How it is with a provider. There is no session to lose: what its last answers said is all that is known. */
export interface ProviderHealth {
  status(): ChannelStatus;
  start(): void;
  stop(): void;
  /** It has asked for rest, or could not be reached. */
  isResting(): boolean;
  /** It was down, and one message has to show whether it still is. */
  isOnTrial(): boolean;
  learn(reaction: Judgement["reaction"]): void;
}

type Down = Extract<NonNullable<Judgement["reaction"]>, { kind: "down" }>;

interface HealthDeps {
  readonly clock: Clock;
  readonly onStatus: (status: ChannelStatus) => void;
  /** It has rested. */
  readonly onRested: () => void;
}

/** A provider that cannot be reached or refuses us is tried again after this time, doubling; each try is one message. */
const FIRST_DOWN_MS = 1_000;
const LONGEST_DOWN_MS = 60_000;

/** A provider may put one message off for longer; the others try before. */
const LONGEST_REST_MS = 300_000;

export function createProviderHealth({ clock, onStatus, onRested }: HealthDeps): ProviderHealth {
  const state = createState(clock, onStatus);
  let restsUntilMs = Number.NEGATIVE_INFINITY;
  let isOnTrial = false;
  let cancelWaking = () => {};
  let downMs = FIRST_DOWN_MS;
  const isResting = () => clock.monotonicMs() < restsUntilMs;

  const rest = (ms: number) => {
    const untilMs = clock.monotonicMs() + Math.min(ms, LONGEST_REST_MS);
    if (untilMs <= restsUntilMs) return;
    restsUntilMs = untilMs;
    cancelWaking();
    cancelWaking = clock.after(untilMs - clock.monotonicMs(), () => {
      state.turn("up");
      onRested();
    });
  };

  const goDown = ({ reason, isRefused }: Down) => {
    isOnTrial = true;
    state.refuse(isRefused === true);
    state.turn("down", reason);
    rest(downMs);
    downMs = Math.min(2 * downMs, LONGEST_DOWN_MS);
  };

  const comeUp = () => {
    isOnTrial = false;
    downMs = FIRST_DOWN_MS;
    state.refuse(false);
    state.turn("up");
  };

  return {
    status: state.get,
    start: () => state.turn("up"),
    stop() {
      cancelWaking();
      state.turn("stopped");
    },
    isResting,
    isOnTrial: () => isOnTrial,
    learn(reaction) {
      if (reaction === undefined) return;
      // Those that were under way with the first one say nothing new.
      if (reaction.kind === "down") return void (isResting() || goDown(reaction));
      comeUp();
      if (reaction.kind === "rest") rest(reaction.ms);
    },
  };
}

/** The state, of which every change is told, once. */
function createState(clock: Clock, onStatus: HealthDeps["onStatus"]) {
  let status: ChannelStatus = { state: "stopped", since: clock.now() };
  let isRefused = false;
  return {
    get: (): ChannelStatus => (isRefused ? { ...status, alarm: "credentials_refused" } : status),
    /** It says that it does not know us; that outlasts the rests between tries. */
    refuse(now: boolean) {
      isRefused = now;
    },
    turn(state: ChannelStatus["state"], reason?: string) {
      if (status.state === state) return;
      status = { state, since: clock.now(), ...(reason !== undefined && { reason }) };
      onStatus(status);
    },
  };
}
