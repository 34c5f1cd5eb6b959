import type { Clock } from "../../../core/clock.ts";
import type { ChannelDeps, ChannelStatus } from "../../channel.ts";
import type { Judgement } from "./judge-answer.ts";

/** How many requests may go out now. There is no session to lose: what the last answers said is all that is known. */
export interface Availability {
  start(): void;
  free(): number;
  /** A place for one request; `undefined` where there is none. */
  take(): Place | undefined;
  status(): ChannelStatus;
  /** Gives out no more places, and resolves when all are back, or after `drainMs`. */
  stop(drainMs: number): Promise<void>;
}

export interface Place {
  /** With what came of it, which says how it is with the provider. */
  giveBack(judgement: Judgement | undefined): void;
}

export type AvailabilityDeps = Pick<ChannelDeps, "onSlots" | "onStatus"> & {
  readonly clock: Clock;
  readonly maxInFlight: number;
};

/** A provider that cannot be reached or refuses us is tried again after this time, doubling; each try is one message. */
const FIRST_DOWN_MS = 1_000;
const LONGEST_DOWN_MS = 60_000;

/** A provider may put one message off for longer; the others try before. */
const LONGEST_REST_MS = 300_000;

export function createAvailability(deps: AvailabilityDeps): Availability {
  const { clock, maxInFlight, onSlots, onStatus } = deps;
  let status: ChannelStatus = { state: "stopped", since: clock.now() };
  let isRunning = false;
  let inFlight = 0;
  let restsUntilMs = Number.NEGATIVE_INFINITY;
  let isOnTrial = false;
  let cancelWaking = () => {};
  let downMs = FIRST_DOWN_MS;
  const empty = new Set<() => void>();

  const turn = (state: ChannelStatus["state"], reason?: string) => {
    if (status.state === state) return;
    status = { state, since: clock.now(), ...(reason !== undefined && { reason }) };
    onStatus(status);
  };

  const wake = () => {
    turn("up");
    onSlots();
  };

  const rest = (ms: number) => {
    const untilMs = clock.monotonicMs() + Math.min(ms, LONGEST_REST_MS);
    if (untilMs <= restsUntilMs) return;
    restsUntilMs = untilMs;
    cancelWaking();
    cancelWaking = clock.after(untilMs - clock.monotonicMs(), wake);
  };

  const goDown = (reason: string) => {
    // Those that were under way with the first one say nothing new.
    if (clock.monotonicMs() < restsUntilMs) return;
    isOnTrial = true;
    turn("down", reason);
    rest(downMs);
    downMs = Math.min(2 * downMs, LONGEST_DOWN_MS);
  };

  const comeUp = () => {
    isOnTrial = false;
    downMs = FIRST_DOWN_MS;
    turn("up");
  };

  const learn = (reaction: Judgement["reaction"]) => {
    if (reaction?.kind === "down") goDown(reaction.reason);
    if (reaction?.kind === "up" || reaction?.kind === "rest") comeUp();
    if (reaction?.kind === "rest") rest(reaction.ms);
  };

  /** One at a time after it was down, to see whether it still is. */
  const free = () => {
    if (!isRunning || clock.monotonicMs() < restsUntilMs) return 0;
    return Math.max(0, (isOnTrial ? 1 : maxInFlight) - inFlight);
  };

  return {
    start() {
      if (isRunning) return;
      isRunning = true;
      turn("up");
      onSlots();
    },
    free,
    take() {
      if (free() === 0) return undefined;
      inFlight++;
      return {
        giveBack(judgement) {
          inFlight--;
          if (inFlight === 0) for (const resolve of empty) resolve();
          if (!isRunning) return;
          learn(judgement?.reaction);
          onSlots();
        },
      };
    },
    status: () => status,
    async stop(drainMs) {
      isRunning = false;
      cancelWaking();
      if (inFlight > 0) {
        await new Promise<void>((resolve) => {
          const cancel = clock.after(drainMs, resolve);
          empty.add(() => {
            cancel();
            resolve();
          });
        });
      }
      turn("stopped");
    },
  };
}
