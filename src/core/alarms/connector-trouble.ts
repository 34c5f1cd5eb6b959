import type { MessageError } from "../messages/message.ts";
import type { PartOutcome } from "../messages/outcome.ts";
import { MINUTE_MS } from "../time/durations.ts";
import { type ConnectorHealth, shownScore } from "./connector-health.ts";

/** What may slow a connector down that is up. */
export interface Slowed {
  readonly health?: ConnectorHealth | undefined;
  /** The most segments per second that it sends at present; absent: nothing limits it. */
  readonly perSecond?: number | undefined;
}

/**
 * What is wrong with a connector that is up, in words for the operator: `health 0.45: throttled (3.3 a second), errors`;
 * `undefined`: nothing is noticed.
 */
export function connectorTrouble({ health, perSecond }: Slowed): string | undefined {
  const problems = health?.problems.filter((problem) => problem !== "down") ?? [];
  if (!health || problems.length === 0) return undefined;
  const rate = perSecond === undefined ? "" : ` (${Math.round(perSecond * 10) / 10} a second)`;
  const words = problems.map((problem) => (problem === "throttled" ? problem + rate : problem));
  return `health ${shownScore(health.score)}: ${words.join(", ")}`;
}

/** What came of the attempts of a connector that is up and fails most of what it is given. */
export interface Failing extends Readonly<Record<PartOutcome["kind"], number>> {
  readonly lastedMs: number;
  /** Of the last attempt that failed; `message` is empty where the provider's words may name somebody. */
  readonly error?: MessageError;
}

const FAILURES = ["deferred", "rejected", "unconfirmed"] as const;

/**
 * How a connector fails, in words for the operator:
 * `240 attempts in 5 minutes: 3 sent, 230 deferred, 7 rejected; the last error: over the allowed rate (smpp.0x00000058); health …`.
 */
export function failingTrouble({ lastedMs, sent, error, ...failing }: Failing, slowed: Slowed): string {
  const all = FAILURES.reduce((sum, kind) => sum + failing[kind], sent);
  const kinds = FAILURES.filter((kind) => failing[kind] > 0).map((kind) => `${failing[kind]} ${kind}`);
  const attempts = [`${sent} sent`, ...kinds].join(", ");
  const words = error && (error.message === "" ? error.code : `${error.message} (${error.code})`);
  return [
    `${all} attempts in ${Math.floor(lastedMs / MINUTE_MS)} minutes: ${attempts}`,
    words && `the last error: ${words}`,
    connectorTrouble(slowed),
  ]
    .filter((each) => each !== undefined)
    .join("; ");
}
