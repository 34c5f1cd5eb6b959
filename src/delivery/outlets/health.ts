import type { ChannelStatus } from "../../channels/channel.ts";
import type { ConnectorHealth, HealthProblem } from "../../core/alarms/connector-health.ts";
import type { Failing } from "../../core/alarms/connector-trouble.ts";
import type { Clock } from "../../core/clock.ts";
import type { PartOutcome, SendOutcome } from "../../core/messages/outcome.ts";
import { type AttemptedMessage, type ChannelTraits, createFailingWatch } from "./failing-watch.ts";
import { createReceiptWatch, type HasReceipt, type SeenReceipt } from "./receipt-watch.ts";
import { createRecentScore } from "./recent-score.ts";

/** How healthy a connector is, judged by its attempts and receipts. In memory only, and of bounded size. */
export interface Health {
  attempt(job: AttemptedMessage, outcome: SendOutcome): void;
  receipt(receipt: SeenReceipt): void;
  score(status: ChannelStatus): ConnectorHealth;
  /** See `FailingWatch`. */
  failing(status: ChannelStatus): Failing | undefined;
  /** Forgets what was observed. */
  reset(): void;
}

export interface HealthTraits extends ChannelTraits {
  /** See `createReceiptWatch`. */
  readonly hasReceipt?: HasReceipt;
}

/** The factor of a throttled connector: below `HEALTHY_SCORE`, and above that of a failing one. */
const THROTTLED = 0.45;

/** Factors below this are listed among the problems. */
const NOTICEABLE = 0.9;

export function createHealth(clock: Clock, traits: HealthTraits): Health {
  const { hasReceipt } = traits;
  let attempts = createRecentScore(clock);
  let receipts = createReceiptWatch(clock, hasReceipt);
  const failing = createFailingWatch(clock, traits);
  return {
    attempt(job, outcome) {
      const { messageId, progress } = job;
      const isGood = judgeAttempt(outcome, traits);
      if (isGood !== undefined) attempts.note(isGood);
      failing.attempt(job, outcome);
      // Only for SMS: about an email, often nothing but a bounce is ever reported.
      const providerMessageIds = progress.channel === "sms" ? awaited(outcome) : [];
      if (providerMessageIds.length > 0) receipts.sent({ messageId, providerMessageIds });
    },
    receipt: (receipt) => receipts.came(receipt),
    failing: failing.look,
    score(status) {
      const factors: readonly (readonly [HealthProblem, number])[] = [
        ["down", status.state === "up" ? 1 : 0],
        ["throttled", status.rate?.isReduced ? THROTTLED : 1],
        ["errors", attempts.value()],
        ["slow_receipts", receipts.value()],
      ];
      return {
        score: factors.reduce((score, [, factor]) => score * factor, 1),
        problems: factors.flatMap(([problem, factor]) => (factor < NOTICEABLE ? [problem] : [])),
      };
    },
    reset() {
      attempts = createRecentScore(clock);
      receipts = createReceiptWatch(clock, hasReceipt);
      failing.forget();
    },
  };
}

/**
 * Whether an attempt speaks for or against the connector; `undefined`: neither. A rejection does neither, since the
 * message may be at fault: a sender of many bad messages must not close the connector to others.
 */
function judgeAttempt(
  { parts, countsAsAttempt }: SendOutcome,
  { keepsRate, reachesMany }: HealthTraits,
): boolean | undefined {
  const has = (kind: PartOutcome["kind"]) => parts.some((part) => part?.kind === kind);
  if (reachesMany) return has("sent") ? true : undefined;
  if (has("unconfirmed")) return false;
  if (has("deferred")) return countsAsAttempt || !keepsRate ? false : undefined;
  return has("sent") ? true : undefined;
}

function awaited({ parts }: SendOutcome): readonly string[] {
  return parts.flatMap((part) => (part?.kind === "sent" && !part.delivered ? part.providerMessageIds : []));
}
