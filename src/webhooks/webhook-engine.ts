import type { Clock, Random } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import { present } from "../core/present.ts";
import type { Claimant } from "../core/queue/claimant.ts";
import { toIso } from "../core/time/timestamp.ts";
import { TEST_EVENT } from "../core/webhooks/webhook-event.ts";
import type { Lane, PausedHost, WebhookAttempt, WebhookVerdict } from "../core/webhooks/webhook-outbox.ts";
import { createUnstored, type Outbox, type Records } from "../store/store.ts";
import { createAttemptDelivery } from "./attempt-delivery.ts";
import { createDeliverEvent, createPutBack } from "./deliver-event.ts";
import { createConfiguredHttp } from "./http/configured-http.ts";
import type { Resolver } from "./http/find-addresses.ts";
import type { OutboundHttp } from "./http/outbound-http.ts";
import { createLaneQueue } from "./lanes/lane-queue.ts";
import { createLanes } from "./lanes/lanes.ts";
import { createSecrets, NO_SECRET } from "./secrets.ts";
import { createOutboxUpkeep } from "./upkeep.ts";
import { createWorker } from "./worker.ts";

/** How long `stop` waits for answers. Events whose answers have not come by then are delivered after the next start. */
const STOP_WAIT_MS = 8_000;

export interface WebhookEngineDeps {
  readonly outbox: Outbox;
  readonly records: Pick<Records, "settings" | "webhookSecrets">;
  readonly clock: Clock;
  readonly random: Random;
  /** See `ConfiguredHttpDeps`. */
  readonly openResolver: (servers: string | undefined) => Resolver;
  readonly log: Log;
  /** Asked before each claim. */
  readonly claimant: () => Claimant;
  /** Called after every attempt, with its verdict and its duration in milliseconds. */
  readonly observe: (kind: WebhookVerdict["kind"], ms: number) => void;
}

/**
 * Delivers the events of the outbox to their receivers. The way of an event: `upkeep.ts` (or a commit of this process) reports
 * that its lane has ready events; `lanes/` decides how many may be delivered; `worker.ts` claims it; `deliver-event.ts`
 * takes it to its settlement, by way of `attempt-delivery.ts` (sign, POST, judge).
 */
export interface WebhookEngine {
  start(): void;
  /** Names of the loops that are more than `ms` late; none before `start`. */
  stalled(ms: number): readonly string[];
  /** Hosts that this process does not try at the moment, and why. */
  paused(): readonly PausedHost[];
  /** How many events are claimed and not yet settled. */
  underWay(): number;
  /**
   * Delivers an event of type `webhook.test` at once, whatever waits or is paused. Takes at most 15 s, stores nothing, and may be
   * called before `start`. Rejects if the account's secrets, or the settings of outgoing HTTP, cannot be read.
   */
  test(target: {
    readonly accountId: string;
    readonly url: string;
    readonly id: string;
  }): Promise<WebhookAttempt>;
  /** Claims no more. Resolves within 10 s, when the events under way have been settled or given up. */
  stop(): Promise<void>;
}

export function createWebhookEngine(deps: WebhookEngineDeps): WebhookEngine {
  const { outbox, clock, random, log, claimant } = deps;
  const stopping = new AbortController();
  const onError = (error: unknown) =>
    log.warn({ err: error }, "the webhook outbox could not be read or written");
  const http = createConfiguredHttp({ ...deps, onError });
  const queue = createLaneQueue();
  const lanes = createLanes({
    clock,
    random,
    onRoom(lane) {
      queue.addRoom(lane);
      worker.wake();
    },
    onPaused: ({ accountId: account_id, until, ...paused }) =>
      log.info({ account_id, ...paused, paused_until: toIso(until) }, "webhooks to a host are paused"),
  });
  const { deliverEvent, putBack, test } = createDeliveries(deps, http, stopping.signal);
  const worker = createWorker({ outbox, queue, lanes, deliverEvent, putBack, claimant, clock, onError });
  const onLanes = (lanes: readonly Lane[]) => {
    for (const lane of lanes) queue.add(lane);
    worker.wake();
  };
  const upkeep = createOutboxUpkeep({
    outbox,
    sweeper: () => present({ process: claimant().process, inFlight: worker.inFlight() }),
    clock,
    onError,
    onLanes,
  });
  let unsubscribe = () => {};

  return {
    start() {
      unsubscribe = outbox.onReady((lane) => onLanes([lane]));
      upkeep.start();
    },
    stalled: upkeep.stalled,
    paused: lanes.paused,
    underWay: worker.underWay,
    test,
    async stop() {
      unsubscribe();
      const cancel = clock.after(STOP_WAIT_MS, () => stopping.abort("stopped"));
      await Promise.all([worker.stop(), upkeep.stop()]);
      cancel();
      http.close();
    },
  };
}

/** The two kinds of deliveries: of an event of the outbox, and of a test event. */
function createDeliveries(deps: WebhookEngineDeps, http: OutboundHttp, signal: AbortSignal) {
  const attemptDelivery = createAttemptDelivery({ ...deps, http });
  const secretsOf = createSecrets(deps.records, deps.clock);
  const test: WebhookEngine["test"] = async ({ accountId, url, id }) => {
    const timestamp = toIso(deps.clock.now());
    const body = JSON.stringify({ type: TEST_EVENT, timestamp, data: { account_id: accountId } });
    const secrets = await secretsOf(accountId);
    if (secrets.length === 0) return { at: deps.clock.now(), ms: 0, error: NO_SECRET };
    return (await attemptDelivery({ id, url, body, secrets, failures: 0 }, signal)).attempt;
  };
  const unstored = createUnstored({ ...deps, signal });
  const deliverEvent = createDeliverEvent({ ...deps, attemptDelivery, secretsOf, unstored, signal });
  return { deliverEvent, putBack: createPutBack({ ...deps, unstored }), test };
}
