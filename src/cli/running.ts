/** The parts of the service that run, and what a stop still waits for. */
export interface Running {
  /** @param what the part has to finish, in words for the operator */
  add(what: string, part: { stop(): Promise<void> }): void;
  /** Stops all parts at the same time, and then each of `afterwards`, one after the other. */
  stop(...afterwards: readonly Ending[]): Promise<void>;
  /** What has not been finished since `stop` was called. */
  unfinished(): readonly string[];
}

export type Ending = readonly [what: string, end: () => Promise<void>];

export function createRunning(): Running {
  const parts: Ending[] = [];
  const unfinished = new Set<string>();
  const finish = async ([what, end]: Ending) => {
    unfinished.add(what);
    await end();
    unfinished.delete(what);
  };
  return {
    add: (what, part) => void parts.push([what, part.stop]),
    async stop(...afterwards) {
      await Promise.all(parts.map(finish));
      for (const each of afterwards) await finish(each);
    },
    unfinished: () => [...unfinished],
  };
}
