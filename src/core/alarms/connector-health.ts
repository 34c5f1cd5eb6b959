export type HealthProblem = "down" | "throttled" | "errors" | "slow_receipts";

/** How well a connector serves, as one process sees it. */
export interface ConnectorHealth {
  /** From 0 (down) to 1 (nothing is wrong). */
  readonly score: number;
  /** What lowers the score noticeably. */
  readonly problems: readonly HealthProblem[];
}

/** A connector with a lower score is passed over while another one of its route is healthier. */
export const HEALTHY_SCORE = 0.5;
