import type { Clock } from "../../../core/clock.ts";
import type { ChannelStatus } from "../../channel.ts";
import type { Judgement } from "./judge-answer.ts";

/** Whether a provider works. There is no session to watch: all that is known comes from its latest answers. */
export interface ProviderHealth {
  status(): ChannelStatus;
  start(): void;
  stop(): void;
  /** Whether it is left alone for a while, since it throttles us, refuses us or cannot be reached. */
  isResting(): boolean;
  /** For how many milliseconds more it rests; 0 if it does not. */
  restMs(): number;
  /** Whether it was down, or has throttled all that it was given. Then it gets one message at a time, until one is answered. */
  isOnTrial(): boolean;
  /** For how many milliseconds at least a message that it has turned away leaves its turn to others; 0: it may be tried. */
  giveWayMs(): number;
  learn(reaction: Judgement["reaction"]): void;
}

type Down = Extract<NonNullable<Judgement["reaction"]>, { kind: "down" }>;

interface HealthDeps {
  readonly clock: Clock;
  readonly onStatus: (status: ChannelStatus) => void;
  /** Called when a rest is over. */
  readonly onRested: () => void;
}

/** How long a provider rests that cannot be reached or refuses us. The time doubles with each try, which is one message. */
const FIRST_DOWN_MS = 1_000;
const LONGEST_DOWN_MS = 60_000;

/**
 * How long one rests at most that throttles all that it is given, if it asks for no more: its quota may be used up for a day, or be
 * one of so many messages a minute. The time doubles as above.
 */
const LONGEST_THROTTLED_MS = 10_000;

/**
 * So long after a rest only messages are tried that the provider has not turned away since it last answered one: those may be the
 * reason why it does, and a few of them would otherwise have every turn, since their delivery windows end first.
 */
export const GIVE_WAY_MS = 5_000;

/** If a provider asks for a longer wait, only that message waits so long. Others are tried after this time. */
const LONGEST_REST_MS = 300_000;

const RESTING = { perSecond: 0, isReduced: true };

export function createProviderHealth({ clock, onStatus, onRested }: HealthDeps): ProviderHealth {
  const state = createState(clock, onStatus);
  const rest = createRest(clock, () => {
    state.turn("up");
    onRested();
  });
  const trial = createTrial(rest);

  const goDown = ({ reason, isRefused }: Down) => {
    state.refuse(isRefused ? reason : undefined);
    state.turn("down", reason);
    trial.down();
  };

  const comeUp = () => {
    state.refuse(undefined);
    state.turn("up");
  };

  return {
    status() {
      const status = state.get();
      // A reduced rate lowers the connector's health, so that others take its messages meanwhile.
      return status.state === "up" && rest.isOn() ? { ...status, rate: RESTING } : status;
    },
    start: () => state.turn("up"),
    stop() {
      rest.cancel();
      state.turn("stopped");
    },
    isResting: rest.isOn,
    restMs: rest.leftMs,
    isOnTrial: trial.isOn,
    giveWayMs: trial.giveWayMs,
    learn(reaction) {
      if (reaction === undefined) return;
      if (reaction.kind === "down") {
        // During a rest only requests that were under way before are answered: they say nothing new.
        if (!rest.isOn()) goDown(reaction);
        return;
      }
      comeUp();
      if (reaction.kind === "rest") trial.throttled(reaction.ms);
      else trial.end();
    },
  };
}

/** How often a provider is tried that takes nothing: with one message at a time, and ever more rarely. */
function createTrial(rest: ReturnType<typeof createRest>) {
  let isOn = false;
  let downMs = FIRST_DOWN_MS;
  /** How many rests it has had for throttling since it last took a message, or refused one. */
  let throttledRests = 0;
  return {
    isOn: () => isOn,
    // Until after the next rest: then there are turns for others, however many have been turned away.
    giveWayMs: () => (isOn && rest.isJustOver(GIVE_WAY_MS) ? rest.lastMs() + GIVE_WAY_MS : 0),
    down() {
      isOn = true;
      rest.begin(downMs);
      downMs = Math.min(2 * downMs, LONGEST_DOWN_MS);
    },
    throttled(ms: number) {
      if (!rest.isOn()) throttledRests++;
      isOn = throttledRests > 1;
      downMs = FIRST_DOWN_MS;
      rest.begin(Math.max(ms, Math.min(ms * 2 ** (throttledRests - 1), LONGEST_THROTTLED_MS)));
    },
    end() {
      isOn = false;
      downMs = FIRST_DOWN_MS;
      throttledRests = 0;
    },
  };
}

/** A time until which nothing is sent. A rest that would end earlier than the current one changes nothing. */
function createRest(clock: Clock, onOver: () => void) {
  let untilMs = Number.NEGATIVE_INFINITY;
  let lastMs = 0;
  let cancel = () => {};
  const isOn = () => clock.monotonicMs() < untilMs;
  return {
    isOn,
    /** Whether it ended less than `ms` ago. */
    isJustOver: (ms: number) => !isOn() && clock.monotonicMs() < untilMs + ms,
    /** How long the last one was. */
    lastMs: () => lastMs,
    leftMs: () => Math.max(0, untilMs - clock.monotonicMs()),
    begin(ms: number) {
      const endsMs = clock.monotonicMs() + Math.min(ms, LONGEST_REST_MS);
      if (endsMs <= untilMs) return;
      untilMs = endsMs;
      lastMs = endsMs - clock.monotonicMs();
      cancel();
      cancel = clock.after(endsMs - clock.monotonicMs(), onOver);
    },
    cancel: () => cancel(),
  };
}

/** The state. Every change is reported once. */
function createState(clock: Clock, onStatus: HealthDeps["onStatus"]) {
  let status: ChannelStatus = { state: "stopped", since: clock.now() };
  let refusal: string | undefined;
  return {
    get(): ChannelStatus {
      return refusal === undefined ? status : { ...status, reason: refusal, alarm: "credentials_refused" };
    },
    /** Notes why the provider refuses us. That is shown until an answer says otherwise, also during the rests between tries. */
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
