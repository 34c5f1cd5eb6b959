import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import type { Claimant } from "../core/queue/claimant.ts";
import type { Store } from "../store/store.ts";
import { createWebhookEngine, type WebhookEngine } from "../webhooks/webhook-engine.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { Lookups } from "./network/create-lookups.ts";

/** The engine that delivers webhooks. Before it is started it only serves the operator's test of a URL. */
export function createWebhooks(parts: {
  readonly clock: Clock;
  readonly store: Store;
  readonly metrics: Pick<Metrics, "webhooks">;
  readonly lookups: Pick<Lookups, "open">;
  readonly log: Log;
  readonly claimant: () => Claimant;
}): WebhookEngine {
  const { store, metrics, lookups } = parts;
  return createWebhookEngine({
    ...parts,
    outbox: store.outbox,
    records: store.records,
    random: Math.random,
    openResolver: lookups.open,
    observe: metrics.webhooks.observe,
  });
}
