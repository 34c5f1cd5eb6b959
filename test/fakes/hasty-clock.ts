import type { Clock } from "../../src/core/clock.ts";

/** A clock whose waits are over at once, and which shows the time that they would have taken. */
export function createHastyClock(): Clock {
  let ms = 0;
  const after: Clock["after"] = (delayMs, run) => {
    ms += delayMs;
    setImmediate(run);
    return () => undefined;
  };
  return { now: () => ms, monotonicMs: () => ms, after };
}
