import type { ChannelStatus } from "../../channels/channel.ts";
import type { ConnectorHealth, HealthProblem } from "../../core/alarms/connector-health.ts";
import type { Clock } from "../../core/clock.ts";
import type { PartOutcome, SendOutcome } from "../../core/messages/outcome.ts";
import type { ClaimedJob } from "../../core/queue/claimed-job.ts";
import { createMark } from "./mark.ts";
import { createReceiptWatch, type SeenReceipt } from "./receipt-watch.ts";

/** What a connector's attempts and receipts say of it. Kept in memory, of bounded size, and forgotten with the process. */
export interface Health {
  attempt(job: Attempted, outcome: SendOutcome): void;
  receipt(receipt: SeenReceipt): void;
  score(status: ChannelStatus): ConnectorHealth;
}

export type Attempted = Pick<ClaimedJob, "messageId" | "progress">;

export interface HealthTraits {
  readonly keepsRate: boolean;
  readonly reachesMany: boolean;
}

/** A connector that has been asked to slow down: under `HEALTHY_SCORE`, above one that fails. */
const THROTTLED = 0.45;

/** Less than this is no problem worth a word. */
const NOTICEABLE = 0.9;

/**
 * `keepsRate`: the channel says by its status when it is throttled, and a message it puts off says nothing of it.
 * `reachesMany`: neither does a host that puts a message off, being one of many.
 */
export function createHealth(clock: Clock, { keepsRate, reachesMany }: HealthTraits): Health {
  const attempts = createMark(clock);
  const receipts = createReceiptWatch(clock);
  return {
    attempt({ messageId, progress }, outcome) {
      const isGood = judgeAttempt(outcome, { keepsRate, reachesMany });
      if (isGood !== undefined) attempts.note(isGood);
      // Of emails only the bad news is sure to come.
      const providerMessageIds = progress.channel === "sms" ? awaited(outcome) : [];
      if (providerMessageIds.length > 0) receipts.sent({ messageId, providerMessageIds });
    },
    receipt: receipts.came,
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
  };
}

/**
 * Whether an attempt speaks for or against the connector; `undefined`: neither. A message that was rejected may be
 * at fault itself, and whoever sends many of those must not close a connector for others.
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
