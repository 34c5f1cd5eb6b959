import type { Clock } from "../../../core/clock.ts";
import { waitAtMost } from "../../../core/work/wait-at-most.ts";
import type { ChannelDeps, ChannelStatus } from "../../channel.ts";
import type { Judgement } from "./judge-answer.ts";
import { createProviderHealth } from "./provider-health.ts";

/** Limits the requests in flight: to `maxInFlight`, to one while the provider is on trial, to none while it rests. */
export interface Availability {
  start(): void;
  free(): number;
  /** A place for one request; `undefined` if none is free. */
  take(): Place | undefined;
  /** For how many milliseconds more the provider rests; 0 if it does not. */
  restMs(): number;
  status(): ChannelStatus;
  /** Gives out no more places. Resolves when all are back, or after `drainMs`. */
  stop(drainMs: number): Promise<void>;
}

export interface Place {
  /** `judgement`: what came of the request, which may also say something about the provider; `undefined` if there was none. */
  giveBack(judgement: Judgement | undefined): void;
}

type AvailabilityDeps = Pick<ChannelDeps, "onSlots" | "onStatus"> & {
  readonly clock: Clock;
  readonly maxInFlight: number;
};

export function createAvailability({
  clock,
  maxInFlight,
  onSlots,
  onStatus,
}: AvailabilityDeps): Availability {
  const health = createProviderHealth({ clock, onStatus, onRested: onSlots });
  let isRunning = false;
  let inFlight = 0;
  const whenEmpty = new Set<(value: undefined) => void>();

  const free = () => {
    if (!isRunning || health.isResting()) return 0;
    return Math.max(0, (health.isOnTrial() ? 1 : maxInFlight) - inFlight);
  };

  const giveBack = (judgement: Judgement | undefined) => {
    inFlight--;
    if (inFlight === 0) for (const end of whenEmpty) end(undefined);
    if (!isRunning) return;
    health.learn(judgement?.reaction);
    onSlots();
  };

  return {
    start() {
      if (isRunning) return;
      isRunning = true;
      health.start();
      onSlots();
    },
    free,
    take() {
      if (free() === 0) return undefined;
      inFlight++;
      return { giveBack };
    },
    restMs: health.restMs,
    status: health.status,
    async stop(drainMs) {
      isRunning = false;
      if (inFlight > 0)
        await waitAtMost<undefined>(clock, { limitMs: drainMs }, (end) => {
          whenEmpty.add(end);
          return () => whenEmpty.delete(end);
        });
      health.stop();
    },
  };
}
