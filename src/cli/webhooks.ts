import type { Claimant } from "../core/queue/claimant.ts";
import { createWebhookEngine, type WebhookEngine } from "../webhooks/webhook-engine.ts";
import type { Parts } from "./parts.ts";

/** The engine that delivers webhooks. Before it is started it only serves the operator's test of a URL. */
export function createWebhooks(
  { store, clock, steadyLog: log, metrics, lookups }: Parts,
  claimant: () => Claimant,
): WebhookEngine {
  return createWebhookEngine({
    outbox: store.outbox,
    records: store.records,
    clock,
    random: Math.random,
    openResolver: lookups.open,
    log,
    claimant,
    observe: metrics.webhooks.observe,
  });
}
