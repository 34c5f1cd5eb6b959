import type { Clock } from "../../../../core/clock.ts";

/** Resolves when the promise has settled, however, or after `limitMs`. */
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
