import type { Clock } from "../../../core/clock.ts";

/** Resolves with the promise, or after the limit. */
export function within(clock: Clock, limitMs: number, promise: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(limitMs, resolve);
    const done = () => {
      cancel();
      resolve();
    };
    promise.then(done, done);
  });
}
