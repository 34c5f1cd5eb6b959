import type { Clock } from "../../../core/clock.ts";

/** How many connections may be open to a host: fewer for a while after the host has refused one as too many. */
export interface ConnectionLimit {
  readonly current: () => number;
  /** To be called when the host, which serves `served` connections, has refused another. */
  readonly lower: (served: number) => void;
  /** Allows the most again: the host has been down, so its earlier refusal no longer counts. */
  readonly lift: () => void;
  readonly stop: () => void;
}

/** After each interval the limit rises by a quarter, until the host refuses again. */
const STEP_MS = 30_000;

/** @param onRaise called when the limit has risen */
export function createConnectionLimit(
  clock: Clock,
  { most, onRaise }: { readonly most: number; readonly onRaise: () => void },
): ConnectionLimit {
  let limit = most;
  let cancel = () => {};

  const raiseLater = () => {
    cancel();
    cancel = limit < most ? clock.after(STEP_MS, raise) : () => {};
  };
  const raise = () => {
    limit = Math.min(most, Math.ceil(limit * 1.25));
    raiseLater();
    onRaise();
  };
  return {
    current: () => limit,
    lower(served) {
      limit = Math.max(1, Math.min(limit, served));
      raiseLater();
    },
    lift() {
      limit = most;
      cancel();
    },
    stop: () => cancel(),
  };
}
