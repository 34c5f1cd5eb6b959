/** Tells attempts that are waiting for an answer when their signal aborts. */
export interface AbortWatch {
  /** Calls `tell` once: when the signal aborts, or now if it has aborted. The returned function cancels that. */
  watch(signal: AbortSignal, tell: () => void): () => void;
}

/** Puts one listener on a signal, for all attempts that watch it: one for each would cost more than the rest of an attempt. */
export function createAbortWatch(): AbortWatch {
  const watchers = new WeakMap<AbortSignal, Set<() => void>>();
  const watchersOf = (signal: AbortSignal) => {
    const known = watchers.get(signal);
    if (known) return known;
    const added = new Set<() => void>();
    watchers.set(signal, added);
    signal.addEventListener("abort", () => tellAll(added), { once: true });
    return added;
  };
  return {
    watch(signal, tell) {
      if (signal.aborted) {
        tell();
        return () => {};
      }
      const all = watchersOf(signal);
      all.add(tell);
      return () => void all.delete(tell);
    },
  };
}

function tellAll(watchers: Set<() => void>): void {
  const told = [...watchers];
  watchers.clear();
  for (const tell of told) tell();
}
