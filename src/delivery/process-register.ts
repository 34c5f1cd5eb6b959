import type { Clock } from "../core/clock.ts";
import type { LeaseProcess } from "../store/store.ts";

/** Which processes were seen, and how long each has stood still, by this one's clock alone. */
export interface ProcessRegister {
  note(processes: readonly LeaseProcess[]): void;
  /** Those that have not turned for too long, other than this one. */
  dead(own: string): readonly LeaseProcess[];
}

export function createRegister(clock: Clock, deadMs: number): ProcessRegister {
  let seen = new Map<string, LeaseProcess & { readonly sinceMs: number }>();
  return {
    note(processes) {
      const now = clock.monotonicMs();
      seen = new Map(
        processes.map((one) => {
          const before = seen.get(one.process);
          return [one.process, before?.turn === one.turn ? before : { ...one, sinceMs: now }];
        }),
      );
    },
    dead(own) {
      const limit = clock.monotonicMs() - deadMs;
      return [...seen.values()]
        .filter(({ process, sinceMs }) => process !== own && sinceMs <= limit)
        .map(({ process, turn }) => ({ process, turn }));
    },
  };
}
