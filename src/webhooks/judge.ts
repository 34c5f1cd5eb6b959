import { present } from "../core/present.ts";
import { parseRetryAfter } from "../core/time/retry-after.ts";
import type { WebhookVerdict } from "../core/webhooks/webhook-outbox.ts";
import { nextDeliveryAt } from "../core/webhooks/webhook-schedule.ts";
import type { PostOutcome } from "./http/outbound-http.ts";

/** What a verdict depends on besides the outcome. */
export interface AttemptContext {
  /** Failed attempts before this one. */
  readonly failures: number;
  /** Unix milliseconds. */
  readonly now: number;
  /** In [0, 1). */
  readonly jitter: number;
}

/** What becomes of an event after an attempt. */
export function judge(outcome: PostOutcome, context: AttemptContext): WebhookVerdict {
  if (isSuccess(outcome)) return { kind: "delivered" };
  if (isGone(outcome)) return { kind: "ended", reason: "gone" };
  if (outcome.kind === "failed" && outcome.reason === "stopped") return { kind: "released" };
  if (outcome.kind === "failed" && outcome.reason === "refused_url") {
    return { kind: "ended", reason: "refused_url" };
  }
  return afterFailure(context, retryAfterOf(outcome, context.now));
}

/** What becomes of an event that has failed once more. `retryAfterMs`: the wait that the receiver asked for. */
export function afterFailure({ failures, now, jitter }: AttemptContext, retryAfterMs = 0): WebhookVerdict {
  const at = nextDeliveryAt({ failures: failures + 1, now, jitter, retryAfterMs });
  return at === undefined ? { kind: "ended", reason: "spent" } : { kind: "again", at };
}

/** What an attempt says about the host, for its circuit. */
export type HostHealth =
  | { readonly kind: "healthy" }
  | {
      readonly kind: "failing";
      readonly reason: string;
      readonly retryAfterMs?: number;
      /** Present if it asks for time (429, 503), and does not say how much. */
      readonly asksForTime?: true;
      /** Present if it answered, with an error. */
      readonly isThere?: true;
      /** Present if the error may be about the URL alone. */
      readonly mayBeOfUrl?: true;
      /** Present if it answered with 5xx: it may have too much to do. */
      readonly isServerError?: true;
    }
  /** 410, or a URL that fails while others of its host do not: it answers, and ends no failures of others. */
  | { readonly kind: "answering" }
  /** An attempt that sent nothing. */
  | { readonly kind: "unknown" };

export function healthOf(outcome: PostOutcome, now: number): HostHealth {
  if (isSuccess(outcome)) return { kind: "healthy" };
  if (isGone(outcome)) return { kind: "answering" };
  if (outcome.kind === "failed" && NOT_THE_HOST.includes(outcome.reason)) return { kind: "unknown" };
  const retryAfterMs = retryAfterOf(outcome, now);
  if (outcome.kind === "failed") return { kind: "failing", reason: outcome.reason };
  const { status } = outcome;
  const asksForTime = ASKS_FOR_TIME.includes(status);
  const mayBeOfUrl = retryAfterMs === undefined && !asksForTime;
  return {
    kind: "failing",
    reason: `status ${status}`,
    isThere: true,
    ...present({ retryAfterMs }),
    ...(asksForTime && !retryAfterMs && { asksForTime }),
    ...(mayBeOfUrl && { mayBeOfUrl }),
    ...(status >= 500 && { isServerError: true }),
  };
}

/** Too Many Requests, and Service Unavailable: about the host, also without a Retry-After. */
const ASKS_FOR_TIME: readonly number[] = [429, 503];

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
