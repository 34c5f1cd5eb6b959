export const HEALTH_PROBLEMS = ["down", "throttled", "errors", "slow_receipts"] as const;
export type HealthProblem = (typeof HEALTH_PROBLEMS)[number];

/** How well a connector serves, as one process sees it. */
export interface ConnectorHealth {
  /** From 0 (down) to 1 (nothing is wrong). */
  readonly score: number;
  /** What lowers the score noticeably. */
  readonly problems: readonly HealthProblem[];
}

/** A connector with a lower score is passed over while another one of its route is healthier. */
export const HEALTHY_SCORE = 0.5;

/** The score as it is shown everywhere: never rounded up, so that what is passed over is not shown as healthy. */
export function shownScore(score: number): number {
  // The score of 0.29, which was shown before, is 28.999… hundredths.
  return Math.floor(Math.round(score * 1e6) / 1e4) / 100;
}
