import type { Clock, Random } from "../core/clock.ts";
import { toWebhookId } from "../core/webhooks/webhook-event.ts";
import type { ClaimedWebhook, WebhookVerdict } from "../core/webhooks/webhook-outbox.ts";
import { nextDeliveryAt } from "../core/webhooks/webhook-schedule.ts";
import type { Outbox } from "../store/store.ts";
import type { DeliverWebhook, DeliveryResult } from "./deliver.ts";
import type { SecretsOf } from "./secrets.ts";
import type { WebhookLog } from "./webhook-engine.ts";
import type { Carry, Lease } from "./worker.ts";

/** A delivery is not begun with less of its lease left: its longest, and the commit of what came of it. */
const LEAST_LEASE_MS = 25_000;

export interface CarryDeps {
  readonly outbox: Pick<Outbox, "settle">;
  readonly deliver: DeliverWebhook;
  readonly secretsOf: SecretsOf;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: WebhookLog;
  readonly observe: (kind: WebhookVerdict["kind"], ms: number) => void;
  /** Gives up deliveries under way: the program ends. */
  readonly signal: AbortSignal;
}

/**
 * Carries one event from its claim to its settlement. What cannot be settled is delivered again when its lease has
 * run out, under the same id.
 */
export function createCarry(deps: CarryDeps): Carry {
  const { outbox, log, observe } = deps;
  return async (webhook, pass, lease) => {
    const result = await tryOut(deps, webhook, lease).catch((error) => {
      log.error({ err: error, ...placeOf(webhook) }, "a webhook could not be tried");
      return undefined;
    });
    pass.leave(result?.host ?? { kind: "nothing" }, result?.attempt.ms ?? 0);
    if (!result) return;
    const { verdict, attempt } = result;
    observe(verdict.kind, attempt.ms);
    note(log, webhook, result);
    const { id, messageId, claim } = webhook;
    await outbox.settle([{ id, messageId, claim, verdict, attempt }]).catch((error) => {
      log.warn({ err: error, ...placeOf(webhook) }, "a webhook's delivery could not be recorded");
    });
  };
}

async function tryOut(
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
  return { verdict: { kind: "released" }, attempt: { at, ms: 0 }, host: { kind: "nothing" } };
}

/** Nothing is sent that nobody could check: it waits, as after any failure, for somebody to make a secret. */
function unsigned({ clock, random }: CarryDeps, { failures }: ClaimedWebhook): DeliveryResult {
  const now = clock.now();
  const at = nextDeliveryAt({ failures: failures + 1, now, jitter: random() });
  return {
    verdict: at === undefined ? { kind: "ended", reason: "spent" } : { kind: "again", at },
    attempt: { at: now, ms: 0, error: { code: "no_secret", message: "the account has no webhook secret" } },
    host: { kind: "nothing" },
  };
}

/** Hosts and ids only: paths and queries of URLs may hold secrets. */
function placeOf({ lane, messageId, sequence }: ClaimedWebhook) {
  return { account: lane.accountId, host: lane.host, webhook: toWebhookId(messageId, sequence) };
}

function note(log: WebhookLog, webhook: ClaimedWebhook, { verdict, attempt }: DeliveryResult): void {
  if (verdict.kind !== "ended" && !log.isDebug()) return;
  const { ms, status, error } = attempt;
  const fields = { ...placeOf(webhook), ms, status, error: error?.code, failures: webhook.failures };
  if (verdict.kind === "ended") log.warn({ ...fields, reason: verdict.reason }, "a webhook has failed");
  else log.debug({ ...fields, verdict: verdict.kind }, "a webhook was tried");
}
