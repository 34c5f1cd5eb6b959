import type { Clock } from "../clock.ts";

export interface WaitLimits {
  readonly limitMs: number;
  /** Aborting it ends the wait. Absent: only the time limit does. */
  readonly signal?: AbortSignal;
}

/**
 * Resolves with the value that `end` is first called with, or with `undefined` after `limitMs`, or when `signal` aborts. `begin`
 * passes `end` on to the code that will call it, and returns a function that revokes it. It must not call `end` itself.
 */
export function waitAtMost<T>(
  clock: Pick<Clock, "after">,
  { limitMs, signal }: WaitLimits,
  begin: (end: (value: T | undefined) => void) => () => void,
): Promise<T | undefined> {
  return new Promise((resolve) => {
    const end = (value: T | undefined) => {
      cancel();
      signal?.removeEventListener("abort", giveUp);
      takeBack();
      resolve(value);
    };
    const giveUp = () => end(undefined);
    const cancel = clock.after(limitMs, giveUp);
    signal?.addEventListener("abort", giveUp);
    const takeBack = begin(end);
    if (signal?.aborted) giveUp();
  });
}
