import type { Clock, Random } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import type { Claimant } from "../core/queue/claimant.ts";
import { toWebhookId } from "../core/webhooks/webhook-event.ts";
import type { ClaimedWebhook, WebhookSettlement, WebhookVerdict } from "../core/webhooks/webhook-outbox.ts";
import { isOutage, type Outbox, type Unstored } from "../store/store.ts";
import type { AttemptDelivery, AttemptResult } from "./attempt-delivery.ts";
import { createFailedLog, type FailedFields } from "./failed-log.ts";
import { afterFailure } from "./judge.ts";
import type { Permit } from "./lanes/lanes.ts";
import { NO_SECRET, type SecretsOf } from "./secrets.ts";

/** How much of a lease must be left to begin a delivery: the longest one takes 15 s, and then its result is committed. */
const LEAST_LEASE_MS = 25_000;

/**
 * Takes one claimed event to its settlement: attempts the delivery and records the result. Releases the permit as soon as
 * the attempt is over. Never rejects: errors are logged, and the event is claimed again when its lease ends.
 */
export type DeliverEvent = (webhook: ClaimedWebhook, permit: Permit, lease: WebhookLease) => Promise<void>;

/** Whether, and until when, a claimed event is this process's to deliver. */
export interface WebhookLease extends Pick<Claimant, "isOurs"> {
  /** When it ends, in milliseconds of the monotonic clock. */
  readonly endsMs: number;
  /** Keeps the event from being claimed again while its result waits to be stored. */
  readonly keep: () => void;
}

export interface DeliverEventDeps {
  readonly outbox: Pick<Outbox, "settle">;
  readonly unstored: Pick<Unstored, "untilStored">;
  readonly attemptDelivery: AttemptDelivery;
  readonly secretsOf: SecretsOf;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Called after every attempt, with its verdict and its duration in milliseconds. */
  readonly observe: (kind: WebhookVerdict["kind"], ms: number) => void;
  /** Aborts when the program ends: deliveries under way are called off. */
  readonly signal: AbortSignal;
}

/** A result that is not recorded before the program ends is lost: the event is delivered again, with the same id. */
export function createDeliverEvent(deps: DeliverEventDeps): DeliverEvent {
  const { log, observe } = deps;
  const tellFailed = createFailedLog(deps);
  return async (webhook, permit, lease) => {
    const result = await attemptOnce(deps, webhook, lease).catch((error) => {
      const level = isOutage(error) ? "warn" : "error";
      log[level]({ err: error, ...logFields(webhook) }, "a webhook could not be tried");
      return undefined;
    });
    permit.release(result?.health ?? { kind: "unknown" }, result?.attempt.ms ?? 0, webhook.url);
    if (!result) return;
    const { verdict, attempt } = result;
    observe(verdict.kind, attempt.ms);
    logResult({ log, tellFailed }, webhook, result);
    await settle(deps, webhook, { verdict, attempt, lease });
  };
}

/** Puts a claimed event back in line without a try. Never rejects: an event that stays claimed is in line again when its lease ends. */
export type PutBack = (webhook: ClaimedWebhook, lease: WebhookLease) => Promise<void>;

export function createPutBack(deps: SettleDeps): PutBack {
  return (webhook, lease) => settle(deps, webhook, { ...released(deps.clock.now()), lease });
}

/** One attempt, if the lease leaves time for it and the event can be signed. */
async function attemptOnce(
  deps: DeliverEventDeps,
  webhook: ClaimedWebhook,
  { endsMs, isOurs }: WebhookLease,
): Promise<AttemptResult> {
  const { clock, attemptDelivery, secretsOf, signal } = deps;
  const secrets = await secretsOf(webhook.lane.accountId);
  const isTooLate = endsMs - clock.monotonicMs() < LEAST_LEASE_MS || !isOurs();
  if (isTooLate || signal.aborted) return released(clock.now());
  if (secrets.length === 0) return unsigned(deps, webhook);
  const { url, body, failures, messageId, sequence } = webhook;
  return attemptDelivery({ id: toWebhookId(messageId, sequence), url, body, secrets, failures }, signal);
}

/** Nothing was tried: the event goes back in line. */
function released(at: number): AttemptResult {
  return { verdict: { kind: "released" }, attempt: { at, ms: 0 }, health: { kind: "unknown" } };
}

/** Without a secret nothing is sent, since the receiver could not check it. That counts as a failed attempt. */
function unsigned({ clock, random }: DeliverEventDeps, { failures }: ClaimedWebhook): AttemptResult {
  const now = clock.now();
  return {
    verdict: afterFailure({ failures, now, jitter: random() }),
    attempt: { at: now, ms: 0, error: NO_SECRET },
    health: { kind: "unknown" },
  };
}

type SettleDeps = Pick<DeliverEventDeps, "outbox" | "unstored" | "clock" | "log">;

interface Settling extends Pick<WebhookSettlement, "verdict" | "attempt"> {
  readonly lease: Pick<WebhookLease, "keep">;
}

/** Waits for a database that is away, or that cannot store this: a receiver should not get an event again because of that. */
async function settle(
  deps: SettleDeps,
  webhook: ClaimedWebhook,
  { verdict, attempt, lease }: Settling,
): Promise<void> {
  const { outbox, unstored, log } = deps;
  const { id, messageId, claim } = webhook;
  const onWait = () => {
    lease.keep();
    if (log.isDebug()) log.debug(logFields(webhook), "a webhook's result waits for the database");
  };
  const settlement = { id, messageId, claim, verdict, attempt };
  const of = { fields: logFields(webhook), onWait };
  await unstored
    .untilStored(() => outbox.settle([settlement]), of)
    .catch((error) => {
      log.warn({ err: error, ...logFields(webhook) }, "a webhook's delivery could not be recorded");
    });
}

/** Hosts and ids only: paths and queries of URLs may hold secrets. */
function logFields({ lane, messageId, sequence }: ClaimedWebhook) {
  return { account_id: lane.accountId, host: lane.host, webhook: toWebhookId(messageId, sequence) };
}

interface ResultLog {
  readonly log: Log;
  readonly tellFailed: (fields: FailedFields) => void;
}

function logResult(
  { log, tellFailed }: ResultLog,
  webhook: ClaimedWebhook,
  { verdict, attempt }: AttemptResult,
): void {
  if (verdict.kind !== "ended" && !log.isDebug()) return;
  const { ms, status, error } = attempt;
  const isFailure = verdict.kind === "ended" || verdict.kind === "again";
  const failures = webhook.failures + Number(isFailure);
  const fields = { ...logFields(webhook), ms, status, error: error?.code, failures };
  if (verdict.kind === "ended") tellFailed({ ...fields, reason: verdict.reason });
  if (log.isDebug()) log.debug({ ...fields, verdict: verdict.kind }, "a webhook was tried");
}
