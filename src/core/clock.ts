/**
 * Time as an argument: `cli` makes the real clock, tests make clocks that they set, and nothing else asks the machine for
 * the time.
 */
export interface Clock {
  /** Wall clock, whole Unix milliseconds. For what is stored and shown. */
  now(): number;
  /** Milliseconds from an arbitrary origin; never goes back. For leases and time limits. */
  monotonicMs(): number;
  /** Calls `run` once, `delayMs` from now, unless the returned function is called first. */
  after(delayMs: number, run: () => void): () => void;
}

/** Chance as an argument: gives a number in [0, 1), like `Math.random`. */
export type Random = () => number;

/** Resolves after `delayMs`, or at once when `signal` aborts, if there is one; never rejects. */
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
