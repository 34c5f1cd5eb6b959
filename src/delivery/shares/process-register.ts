import type { Clock } from "../../core/clock.ts";
import type { LeaseProcess } from "../../store/store.ts";

/** Which processes were seen, and how long each has stood still, by this one's clock alone. */
export interface ProcessRegister {
  note(processes: readonly LeaseProcess[]): void;
  /** Those that have not turned for too long, other than this one. */
  dead(own: string): readonly LeaseProcess[];
}

/**
 * From one look to the next counts for no more than this. While the database is away nobody can turn, and the first that
 * comes back is not to bury the others for it.
 */
const LOOK_MS = 3_000;

export function createRegister(clock: Clock, deadMs: number): ProcessRegister {
  let seen = new Map<string, LeaseProcess & { readonly stillMs: number }>();
  let lookedMs = clock.monotonicMs();
  const sinceLookMs = () => Math.min(LOOK_MS, clock.monotonicMs() - lookedMs);
  return {
    note(processes) {
      const moreMs = sinceLookMs();
      lookedMs = clock.monotonicMs();
      seen = new Map(
        processes.map((one) => {
          const before = seen.get(one.process);
          const stillMs = before?.turn === one.turn ? before.stillMs + moreMs : 0;
          return [one.process, { ...one, stillMs }];
        }),
      );
    },
    dead(own) {
      const limitMs = deadMs - sinceLookMs();
      return [...seen.values()]
        .filter(({ process, stillMs }) => process !== own && stillMs >= limitMs)
        .map(({ process, turn }) => ({ process, turn }));
    },
  };
}
