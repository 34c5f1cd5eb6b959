import type { Clock } from "../../core/clock.ts";

export interface TimeLimit {
  /** Aborts with the limit's reason, or with the reason of the signal above. */
  readonly signal: AbortSignal;
  /** Time no longer ends it; the signal above still does. */
  readonly lift: () => void;
  /** Leaves the clock and the signal above, which may outlive many limits. */
  readonly release: () => void;
}

export function openTimeLimit(
  clock: Clock,
  { ms, reason }: { readonly ms: number; readonly reason: string },
  above?: AbortSignal,
): TimeLimit {
  const controller = new AbortController();
  const lift = clock.after(ms, () => controller.abort(reason));
  const onAbort = () => controller.abort(above?.reason);
  above?.addEventListener("abort", onAbort);
  if (above?.aborted) onAbort();
  return {
    signal: controller.signal,
    lift,
    release() {
      lift();
      above?.removeEventListener("abort", onAbort);
    },
  };
}

/** What the promise resolves with; `undefined` if the signal was first, after which it may do as it likes. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  let onAbort = () => {};
  const aborted = new Promise<undefined>((resolve) => {
    onAbort = () => resolve(undefined);
    signal.addEventListener("abort", onAbort);
  });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", onAbort));
}
