import type { WebhookVerdict } from "../core/webhooks/webhook-outbox.ts";
import { nextDeliveryAt, parseRetryAfter } from "../core/webhooks/webhook-schedule.ts";
import type { PostOutcome } from "./http/outbound-http.ts";

export interface Occasion {
  /** Failed tries before this one. */
  readonly failures: number;
  readonly now: number;
  readonly jitter: number;
}

export function judge(outcome: PostOutcome, { failures, now, jitter }: Occasion): WebhookVerdict {
  if (isSuccess(outcome)) return { kind: "delivered" };
  if (isGone(outcome)) return { kind: "ended", reason: "gone" };
  if (outcome.kind === "failed" && outcome.reason === "stopped") return { kind: "released" };
  if (outcome.kind === "failed" && outcome.reason === "refused_url") {
    return { kind: "ended", reason: "refused_url" };
  }
  const retryAfterMs = retryAfterOf(outcome, now);
  const at = nextDeliveryAt({
    failures: failures + 1,
    now,
    jitter,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
  return at === undefined ? { kind: "ended", reason: "spent" } : { kind: "again", at };
}

/** What the try says about the host, for its circuit. */
export type HostSign =
  | { readonly kind: "well" }
  | { readonly kind: "failing"; readonly reason: string; readonly retryAfterMs?: number }
  /** 410 is about one URL, and what was never sent is about none. */
  | { readonly kind: "nothing" };

export function signOf(outcome: PostOutcome, now: number): HostSign {
  if (isSuccess(outcome)) return { kind: "well" };
  if (isGone(outcome)) return { kind: "nothing" };
  if (outcome.kind === "failed" && NOT_THE_HOST.includes(outcome.reason)) return { kind: "nothing" };
  const retryAfterMs = retryAfterOf(outcome, now);
  const reason = outcome.kind === "answered" ? `status ${outcome.status}` : outcome.reason;
  return { kind: "failing", reason, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

const NOT_THE_HOST: readonly string[] = ["stopped", "refused_url"];

function isSuccess(outcome: PostOutcome): boolean {
  return outcome.kind === "answered" && outcome.status >= 200 && outcome.status < 300;
}

/** 410 Gone: never again (Standard Webhooks 1.0.0). */
function isGone(outcome: PostOutcome): boolean {
  return outcome.kind === "answered" && outcome.status === 410;
}

function retryAfterOf(outcome: PostOutcome, now: number): number | undefined {
  if (outcome.kind !== "answered" || outcome.retryAfter === undefined) return undefined;
  return parseRetryAfter(outcome.retryAfter, now);
}
