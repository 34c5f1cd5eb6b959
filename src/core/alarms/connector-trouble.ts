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
