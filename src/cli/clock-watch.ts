import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import { createChores } from "../core/work/chores.ts";
import type { Store } from "../store/store.ts";

const EVERY_MS = 30_000;

/** A difference that an operator should know of: as long as the shortest delivery window. */
const FAR_MS = 5_000;

/**
 * Compares this machine's clock with the database's. Processes that share a database each go by their own clock to tell when a
 * message is due, or its window ends, and none of them can ask the others.
 */
export interface ClockWatch {
  start(): void;
  /** How far this machine's clock was ahead at the last look; negative if behind, `undefined` if there is none to compare with. */
  aheadMs(): number | undefined;
  stop(): Promise<void>;
}

export function createClockWatch({
  store,
  clock,
  log,
}: {
  readonly store: Pick<Store, "ping">;
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn">;
}): ClockWatch {
  let aheadMs: number | undefined;
  let isFar = false;

  const look = async () => {
    const askedMs = clock.monotonicMs();
    const time = await store.ping();
    if (time === undefined) return 0;
    // The answer was made between the question and now.
    const doubtMs = (clock.monotonicMs() - askedMs) / 2;
    aheadMs = Math.round(clock.now() - doubtMs - time);
    const wasFar = isFar;
    isFar = Math.abs(aheadMs) > FAR_MS + doubtMs;
    const fields = { ahead_seconds: Math.round(aheadMs / 1_000) };
    if (isFar && !wasFar) log.warn(fields, "this machine's clock and the database's differ");
    if (!isFar && wasFar) log.info(fields, "this machine's clock and the database's agree again");
    return 0;
  };
  const { start, stop } = createChores({
    clock,
    chores: [{ name: "compare clocks", everyMs: EVERY_MS, run: look }],
    onError: (error) => log.warn({ err: error }, "the database's clock could not be read"),
  });
  return { start, aheadMs: () => aheadMs, stop };
}
