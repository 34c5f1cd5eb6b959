/** The parts of the service that run, and what a stop still waits for. */
export interface Running {
  /** @param what the operator calls it that the part has to finish */
  add(what: string, part: { stop(): Promise<void> }): void;
  /** Stops all parts at the same time, and then each of `afterwards`, one after the other. */
  stop(...afterwards: readonly (readonly [what: string, end: () => Promise<void>])[]): Promise<void>;
  /** What has not been finished since `stop` was called. */
  unfinished(): readonly string[];
}

export function createRunning(): Running {
  const parts: { readonly what: string; readonly end: () => Promise<void> }[] = [];
  const unfinished = new Set<string>();
  const finish = async (what: string, end: () => Promise<void>) => {
    unfinished.add(what);
    await end();
    unfinished.delete(what);
  };
  return {
    add: (what, part) => void parts.push({ what, end: part.stop }),
    async stop(...afterwards) {
      await Promise.all(parts.map(({ what, end }) => finish(what, end)));
      for (const [what, end] of afterwards) await finish(what, end);
    },
    unfinished: () => [...unfinished],
  };
}
