import type { Clock } from "../../../core/clock.ts";

/** One signal for all reasons to stop waiting; `signal.reason` is a sentence. */
export interface JoinedSignal {
  readonly signal: AbortSignal;
  /** Stops the timer and leaves the sources, which may outlive many cuts. */
  readonly release: () => void;
}

export function joinSignals(clock: Clock, limitMs: number, sources: readonly AbortSignal[]): JoinedSignal {
  const controller = new AbortController();
  const end = (reason: unknown) =>
    controller.abort(typeof reason === "string" ? reason : "the attempt was called off");
  const cancel = clock.after(limitMs, () => end("it took too long"));
  const watched = sources.map((source) => {
    const onAbort = () => end(source.reason);
    source.addEventListener("abort", onAbort);
    if (source.aborted) onAbort();
    return { source, onAbort };
  });
  return {
    signal: controller.signal,
    release() {
      cancel();
      for (const { source, onAbort } of watched) source.removeEventListener("abort", onAbort);
    },
  };
}
