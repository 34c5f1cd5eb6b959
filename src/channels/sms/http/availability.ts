import type { Clock } from "../../../core/clock.ts";
import { createInFlight } from "../../../core/work/in-flight.ts";
import { inTime } from "../../../core/work/in-time.ts";
import { remember } from "../../../core/work/remember.ts";
import type { ChannelDeps, ChannelStatus } from "../../channel.ts";
import type { Judgement } from "./judge-answer.ts";
import { createProviderHealth } from "./provider-health.ts";

/** Limits the requests in flight: to `maxInFlight`, to one while the provider is on trial, to none while it rests. */
export interface Availability {
  start(): void;
  free(): number;
  /** Makes a request about a message, and learns what came of it; `undefined` if there is no place for it. */
  withPlace(messageId: string, request: () => Promise<Judgement>): Promise<Judgement> | undefined;
  /** For how many milliseconds a message is to leave its turn to others, so that they are tried first; 0 if it is not. */
  giveWayMs(messageId: string): number;
  /** For how many milliseconds more the provider rests; 0 if it does not. */
  restMs(): number;
  /** Whether the provider gets one message at a time. */
  isOnTrial(): boolean;
  status(): ChannelStatus;
  /** Gives out no more places. Resolves when all requests have ended, or after `drainMs`. */
  stop(drainMs: number): Promise<void>;
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
  const turnedAway = createTurnedAway(clock);
  let isRunning = false;
  const inFlight = createInFlight();

  const free = () => {
    if (!isRunning || health.isResting()) return 0;
    return Math.max(0, (health.isOnTrial() ? 1 : maxInFlight) - inFlight.count());
  };

  const learnFrom = async (messageId: string, request: Promise<Judgement>) => {
    try {
      const judgement = await request;
      if (isRunning) {
        health.learn(judgement.reaction);
        turnedAway.heed(messageId, judgement.reaction);
      }
      return judgement;
    } finally {
      if (isRunning) onSlots();
    }
  };

  return {
    start() {
      if (isRunning) return;
      isRunning = true;
      health.start();
      onSlots();
    },
    free,
    withPlace: (messageId, request) =>
      free() > 0 ? learnFrom(messageId, inFlight.add(request())) : undefined,
    giveWayMs: (messageId) => (free() > 0 ? turnedAway.waitMs(messageId, health.giveWayMs()) : 0),
    restMs: health.restMs,
    isOnTrial: health.isOnTrial,
    status: health.status,
    async stop(drainMs) {
      isRunning = false;
      await inTime(clock, { limitMs: drainMs, late() {} }, inFlight.whenEmpty());
      health.stop();
    },
  };
}

/** How many messages are remembered. The oldest are forgotten first. */
const MAX_REMEMBERED = 10_000;

/** Leaving a turn costs a claim. So the wait is a tenth of the time for which a message has been turned away, up to this. */
const LONGEST_WAIT_MS = 2 * 60_000;

/** The messages that the provider has refused or throttled since it last answered one otherwise, and since when. */
function createTurnedAway(clock: Clock) {
  const known = new Map<string, number>();
  return {
    /** How long it leaves its turn to others, if those are to have it for `leastMs`; 0 if it was not turned away. */
    waitMs(messageId: string, leastMs: number): number {
      const since = known.get(messageId);
      if (since === undefined || leastMs === 0) return 0;
      return Math.max(leastMs, Math.min((clock.monotonicMs() - since) / 10, LONGEST_WAIT_MS));
    },
    heed(messageId: string, reaction: Judgement["reaction"]) {
      if (reaction?.kind === "up") known.clear();
      if (reaction === undefined || reaction.kind === "up" || known.has(messageId)) return;
      remember(known, [messageId, clock.monotonicMs()], MAX_REMEMBERED);
    },
  };
}
