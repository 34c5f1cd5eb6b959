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
  /** Milliseconds of that which are left. */
  restMs(): number;
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

const RESTING = { perSecond: 0, isReduced: true };

export function createProviderHealth({ clock, onStatus, onRested }: HealthDeps): ProviderHealth {
  const state = createState(clock, onStatus);
  const rest = createRest(clock, () => {
    state.turn("up");
    onRested();
  });
  let isOnTrial = false;
  let downMs = FIRST_DOWN_MS;

  const goDown = ({ reason, isRefused }: Down) => {
    isOnTrial = true;
    state.refuse(isRefused ? reason : undefined);
    state.turn("down", reason);
    rest.begin(downMs);
    downMs = Math.min(2 * downMs, LONGEST_DOWN_MS);
  };

  const comeUp = () => {
    isOnTrial = false;
    downMs = FIRST_DOWN_MS;
    state.refuse(undefined);
    state.turn("up");
  };

  return {
    status() {
      const status = state.get();
      // Others shall take the messages meanwhile.
      return status.state === "up" && rest.isOn() ? { ...status, rate: RESTING } : status;
    },
    start: () => state.turn("up"),
    stop() {
      rest.cancel();
      state.turn("stopped");
    },
    isResting: rest.isOn,
    restMs: rest.leftMs,
    isOnTrial: () => isOnTrial,
    learn(reaction) {
      if (reaction === undefined) return;
      // Those that were under way with the first one say nothing new.
      if (reaction.kind === "down") return void (rest.isOn() || goDown(reaction));
      comeUp();
      if (reaction.kind === "rest") rest.begin(reaction.ms);
    },
  };
}

/** The longest rest it was given so far counts. */
function createRest(clock: Clock, onOver: () => void) {
  let untilMs = Number.NEGATIVE_INFINITY;
  let cancel = () => {};
  return {
    isOn: () => clock.monotonicMs() < untilMs,
    leftMs: () => Math.max(0, untilMs - clock.monotonicMs()),
    begin(ms: number) {
      const endsMs = clock.monotonicMs() + Math.min(ms, LONGEST_REST_MS);
      if (endsMs <= untilMs) return;
      untilMs = endsMs;
      cancel();
      cancel = clock.after(endsMs - clock.monotonicMs(), onOver);
    },
    cancel: () => cancel(),
  };
}

/** The state, of which every change is told, once. */
function createState(clock: Clock, onStatus: HealthDeps["onStatus"]) {
  let status: ChannelStatus = { state: "stopped", since: clock.now() };
  let refusal: string | undefined;
  return {
    get(): ChannelStatus {
      return refusal === undefined ? status : { ...status, reason: refusal, alarm: "credentials_refused" };
    },
    /** Why it will not serve us; that outlasts the rests between tries. */
    refuse(reason: string | undefined) {
      refusal = reason;
    },
    turn(state: ChannelStatus["state"], reason?: string) {
      if (status.state === state) return;
      status = { state, since: clock.now(), ...(reason !== undefined && { reason }) };
      onStatus(status);
    },
  };
}
