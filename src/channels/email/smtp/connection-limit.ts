import type { Clock } from "../../../core/clock.ts";

/** How many connections a host is asked for: fewer for a while after it refused one more than it serves. */
export interface ConnectionLimit {
  readonly current: () => number;
  /** The host serves so many, and refused another. */
  readonly lower: (served: number) => void;
  /** The host has been away: what it refused before says nothing any more. */
  readonly lift: () => void;
  readonly stop: () => void;
}

/** So often one is tried that may be too many again; a quarter more each time. */
const STEP_MS = 30_000;

/** `onRaise`: more connections may be asked for than before. */
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
