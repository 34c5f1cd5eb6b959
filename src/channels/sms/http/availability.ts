import type { Clock } from "../../../core/clock.ts";
import { createInFlight } from "../../../core/work/in-flight.ts";
import { inTime } from "../../../core/work/in-time.ts";
import { remember } from "../../../core/work/remember.ts";
import type { ChannelDeps, ChannelStatus } from "../../channel.ts";
import { type Judgement, notTried } from "./judge-answer.ts";
import { createProviderHealth, GIVE_WAY_MS, type ProviderHealth } from "./provider-health.ts";
import { createSingleRefusals } from "./single-refusals.ts";

/**
 * Decides which messages the provider is asked about, and when. Limits the requests in flight: to `maxInFlight`, to one while the
 * provider is on trial, to none while it rests.
 */
export interface Availability {
  start(): void;
  free(): number;
  /**
   * Makes a request about a message, and learns what came of it. Makes none if there is no place for it, if other messages are to be
   * tried before this one, or if `signal` has aborted.
   */
  ask(messageId: string, signal: AbortSignal, request: () => Promise<Judgement>): Promise<Judgement>;
  status(): ChannelStatus;
  /** Gives out no more places. Resolves when all requests have ended, or after `drainMs`. */
  stop(drainMs: number): Promise<void>;
}

type AvailabilityDeps = Pick<ChannelDeps, "onSlots" | "onStatus"> & {
  readonly clock: Clock;
  readonly maxInFlight: number;
};

export function createAvailability(deps: AvailabilityDeps): Availability {
  const { clock, maxInFlight, onSlots, onStatus } = deps;
  const health = createProviderHealth({ clock, onStatus, onRested: onSlots });
  const turnedAway = createTurnedAway(clock);
  const singleRefusals = createSingleRefusals();
  let isRunning = false;
  const inFlight = createInFlight();

  const free = () => (isRunning ? Math.max(0, mostInFlight(health, maxInFlight) - inFlight.count()) : 0);

  const learnFrom = async (messageId: string, request: Promise<Judgement>) => {
    try {
      const judgement = singleRefusals.heed(messageId, await request);
      if (isRunning) {
        health.learn(judgement.reaction);
        turnedAway.heed(messageId, judgement.reaction);
      }
      return health.isOnTrial() ? givingWay(judgement, health.restMs()) : judgement;
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
    async ask(messageId, signal, request) {
      if (free() === 0) return NOT_READY;
      const waitMs = turnedAway.waitMs(messageId, health.giveWayMs());
      if (waitMs > 0) {
        onSlots();
        return givesWay(waitMs);
      }
      return signal.aborted ? NOT_READY : learnFrom(messageId, inFlight.add(request()));
    },
    status: health.status,
    async stop(drainMs) {
      isRunning = false;
      await inTime(clock, { limitMs: drainMs, late() {} }, inFlight.whenEmpty());
      health.stop();
    },
  };
}

function mostInFlight(health: ProviderHealth, configured: number): number {
  if (health.isResting()) return 0;
  return health.isOnTrial() ? 1 : configured;
}

const NOT_READY = notTried("http.not_ready", "the connector takes nothing now");

/** Waits are spread by ±10 %. A message's wait is made longer by this factor, so that it never comes back too early. */
const NEVER_EARLY = 1 / 0.9;

function givesWay(ms: number): Judgement {
  const words = "the provider has turned it away, and others are tried first";
  return notTried("http.gives_way", words, Math.ceil(ms * NEVER_EARLY));
}

/** Lets another message be tried first: this one may be the reason why the provider refused or throttled us. */
function givingWay(judgement: Judgement, restMs: number): Judgement {
  const { outcome, reaction } = judgement;
  const isTurnedAway = reaction?.kind === "rest" || (reaction?.kind === "down" && reaction.isRefused);
  if (outcome.kind !== "deferred" || !isTurnedAway) return judgement;
  const ownMs = Math.ceil((restMs + GIVE_WAY_MS) * NEVER_EARLY);
  const retryAfterMs = Math.max(outcome.retryAfterMs ?? 0, ownMs);
  return { ...judgement, outcome: { ...outcome, retryAfterMs } };
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
