import type { Clock, Random } from "../core/clock.ts";
import type { WebhookAttempt, WebhookVerdict } from "../core/webhooks/webhook-outbox.ts";
import type { OutboundHttp, PostOutcome } from "./http/outbound-http.ts";
import { type HostHealth, healthOf, judge } from "./judge.ts";
import { sign } from "./sign.ts";

/** One event on its way to one URL. */
export interface OutgoingWebhook {
  /** The `webhook-id`: the same on every attempt. */
  readonly id: string;
  readonly url: string;
  /** JSON; signed and sent as it is. */
  readonly body: string;
  /** The account's valid secrets, newest first; at least one. */
  readonly secrets: readonly string[];
  /** Failed attempts so far. */
  readonly failures: number;
}

/** What came of an attempt. */
export interface AttemptResult {
  /** What becomes of the event. */
  readonly verdict: WebhookVerdict;
  /** What is shown to operators. */
  readonly attempt: WebhookAttempt;
  /** What the attempt says about the host. */
  readonly health: HostHealth;
}

/**
 * One attempt: signs, POSTs and judges, within 15 s. Stores nothing. Whatever the network and the receiver do is a result. Rejects
 * only if the webhook has no secret, or the settings of outgoing HTTP cannot be read. An aborted attempt is `released`.
 */
export type AttemptDelivery = (webhook: OutgoingWebhook, signal: AbortSignal) => Promise<AttemptResult>;

export function createAttemptDelivery(deps: {
  readonly http: Pick<OutboundHttp, "post">;
  readonly clock: Clock;
  readonly random: Random;
}): AttemptDelivery {
  const { http, clock, random } = deps;
  return async (webhook, signal) => {
    const { url, body, failures } = webhook;
    const at = clock.now();
    const headers = headersOf(webhook, Math.floor(at / 1000));
    const outcome = await http.post({ url, body, headers, signal });
    const now = clock.now();
    return {
      verdict: judge(outcome, { failures, now, jitter: random() }),
      attempt: toAttempt(outcome, at),
      health: healthOf(outcome, now),
    };
  };
}

function headersOf({ id, body, secrets }: OutgoingWebhook, timestamp: number): Record<string, string> {
  return {
    "content-type": "application/json",
    "user-agent": "Postrider-Webhooks",
    accept: "*/*",
    "accept-encoding": "identity",
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": sign({ id, timestamp, body }, secrets),
  };
}

function toAttempt(outcome: PostOutcome, at: number): WebhookAttempt {
  const { ms } = outcome;
  return outcome.kind === "answered"
    ? { at, ms, status: outcome.status, head: outcome.head }
    : { at, ms, error: { code: outcome.reason, message: outcome.message } };
}
