/**
 * Time as an argument. `cli` makes the real clock, tests make clocks that they control, and nothing else asks the machine for the
 * time.
 */
export interface Clock {
  /** The wall clock, in whole Unix milliseconds. For what is stored and shown. */
  now(): number;
  /** Milliseconds since an arbitrary origin. Never goes back. For leases and time limits. */
  monotonicMs(): number;
  /** Calls `run` once, `delayMs` from now, unless the returned function is called first. */
  after(delayMs: number, run: () => void): () => void;
}

/** Randomness as an argument: returns a number in [0, 1), like `Math.random`. */
export type Random = () => number;

/** Resolves after `delayMs`, or as soon as `signal`, if given, aborts. Never rejects. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const wake = () => {
      cancel();
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const cancel = clock.after(delayMs, wake);
    signal?.addEventListener("abort", wake);
  });
}
