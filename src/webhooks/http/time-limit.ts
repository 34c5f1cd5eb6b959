import type { Clock } from "../../core/clock.ts";

export interface TimeLimit {
  /** Aborts with the limit's reason, or with that of the parent signal. */
  readonly signal: AbortSignal;
  /** Ends the limit. The parent still aborts the signal. */
  readonly lift: () => void;
  /** Ends the limit, and lets go of the parent, which may outlive many limits. */
  readonly release: () => void;
}

export function openTimeLimit(
  clock: Clock,
  { ms, reason }: { readonly ms: number; readonly reason: string },
  parent: AbortSignal,
): TimeLimit {
  const controller = new AbortController();
  const lift = clock.after(ms, () => controller.abort(reason));
  const onAbort = () => controller.abort(parent.reason);
  parent.addEventListener("abort", onAbort);
  if (parent.aborted) onAbort();
  return {
    signal: controller.signal,
    lift,
    release() {
      lift();
      parent.removeEventListener("abort", onAbort);
    },
  };
}
