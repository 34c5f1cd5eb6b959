import type { Clock } from "../../../core/clock.ts";
import type { WaitLimits } from "../../../core/work/wait-at-most.ts";

/** Does `work` with a signal that aborts when `signal` does, or after `limitMs`. Its reason says which, for the timeline. */
export async function withinLimit<T>(
  clock: Clock,
  { limitMs, signal }: WaitLimits,
  work: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const limited = new AbortController();
  const onAbort = () => limited.abort("the attempt was called off");
  const cancel = clock.after(limitMs, () => limited.abort("it took too long"));
  signal?.addEventListener("abort", onAbort);
  if (signal?.aborted) onAbort();
  try {
    return await work(limited.signal);
  } finally {
    cancel();
    signal?.removeEventListener("abort", onAbort);
  }
}
