import { type Clock, type Random, sleep } from "../core/clock.ts";
import { toWebhookId } from "../core/webhooks/webhook-event.ts";
import type { ClaimedWebhook, WebhookSettlement, WebhookVerdict } from "../core/webhooks/webhook-outbox.ts";
import { type Outbox, StoreUnavailable } from "../store/store.ts";
import type { DeliverWebhook, DeliveryResult } from "./deliver.ts";
import { afterFailure } from "./judge.ts";
import { NO_SECRET, type SecretsOf } from "./secrets.ts";
import type { WebhookLog } from "./webhook-engine.ts";
import type { Carry, Lease } from "./worker.ts";

/** What must be left of a lease to begin a delivery: the longest one takes 15 s, and then its result is committed. */
const LEAST_LEASE_MS = 25_000;

/** Between tries to record a delivery while the database is away. */
const SETTLE_RETRY_MS = 250;

export interface CarryDeps {
  readonly outbox: Pick<Outbox, "settle">;
  readonly deliver: DeliverWebhook;
  readonly secretsOf: SecretsOf;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: WebhookLog;
  readonly observe: (kind: WebhookVerdict["kind"], ms: number) => void;
  /** Calls off deliveries under way when the program ends. */
  readonly signal: AbortSignal;
}

/**
 * Carries one event from its claim to its settlement. If it is not settled before the program ends, it is delivered again,
 * with the same id.
 */
export function createCarry(deps: CarryDeps): Carry {
  const { log, observe } = deps;
  return async (webhook, pass, lease) => {
    const result = await deliverLeased(deps, webhook, lease).catch((error) => {
      log.error({ err: error, ...logFields(webhook) }, "a webhook could not be tried");
      return undefined;
    });
    pass.leave(result?.host ?? { kind: "unknown" }, result?.attempt.ms ?? 0);
    if (!result) return;
    const { verdict, attempt } = result;
    observe(verdict.kind, attempt.ms);
    logResult(log, webhook, result);
    const { id, messageId, claim } = webhook;
    await settle(deps, webhook, { id, messageId, claim, verdict, attempt }).catch((error) => {
      log.warn({ err: error, ...logFields(webhook) }, "a webhook's delivery could not be recorded");
    });
  };
}

/** Tries until the database is back: what a receiver has taken should not come again. */
async function settle(
  { outbox, clock, log, signal }: CarryDeps,
  webhook: ClaimedWebhook,
  settlement: WebhookSettlement,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await outbox.settle([settlement]);
      return;
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || signal.aborted) throw error;
      if (tries === 1 && log.isDebug())
        log.debug(logFields(webhook), "a webhook's result waits for the database");
      await sleep(clock, SETTLE_RETRY_MS, signal);
    }
  }
}

async function deliverLeased(
  deps: CarryDeps,
  webhook: ClaimedWebhook,
  { endsMs, isOurs }: Lease,
): Promise<DeliveryResult> {
  const { clock, deliver, secretsOf, signal } = deps;
  const secrets = await secretsOf(webhook.lane.accountId);
  const isTooLate = endsMs - clock.monotonicMs() < LEAST_LEASE_MS || !isOurs();
  if (isTooLate || signal.aborted) return released(clock.now());
  if (secrets.length === 0) return unsigned(deps, webhook);
  const { url, body, failures, messageId, sequence } = webhook;
  return deliver({ id: toWebhookId(messageId, sequence), url, body, secrets, failures }, signal);
}

function released(at: number): DeliveryResult {
  return { verdict: { kind: "released" }, attempt: { at, ms: 0 }, host: { kind: "unknown" } };
}

/** Without a secret nothing is sent, since the receiver could not check it. That counts as a failed attempt. */
function unsigned({ clock, random }: CarryDeps, { failures }: ClaimedWebhook): DeliveryResult {
  const now = clock.now();
  return {
    verdict: afterFailure({ failures, now, jitter: random() }),
    attempt: { at: now, ms: 0, error: NO_SECRET },
    host: { kind: "unknown" },
  };
}

/** Hosts and ids only: paths and queries of URLs may hold secrets. */
function logFields({ lane, messageId, sequence }: ClaimedWebhook) {
  return { account: lane.accountId, host: lane.host, webhook: toWebhookId(messageId, sequence) };
}

function logResult(log: WebhookLog, webhook: ClaimedWebhook, { verdict, attempt }: DeliveryResult): void {
  if (verdict.kind !== "ended" && !log.isDebug()) return;
  const { ms, status, error } = attempt;
  const fields = { ...logFields(webhook), ms, status, error: error?.code, failures: webhook.failures };
  if (verdict.kind === "ended") log.warn({ ...fields, reason: verdict.reason }, "a webhook has failed");
  else log.debug({ ...fields, verdict: verdict.kind }, "a webhook was tried");
}
