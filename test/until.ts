/** Shorter than the time limit of a test, which ends the test but not what it left running. */
const LATEST_MS = 110_000;

export interface Patience {
  /** In real time. */
  readonly withinMs?: number;
  /**
   * Between one look and the next; with 0 what has come in is worked off, and no time passes. Absent: a twentieth of what it
   * has waited so far, within bounds, since every look is work, which others may be waiting for.
   */
  readonly pauseMs?: number;
}

const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 100;
const PART = 1 / 20;

/** Looks again and again until what it finds is so, and resolves with it; rejects with the last if it is not in time. */
export async function until<T>(
  look: () => T | Promise<T>,
  isSo: (found: T) => boolean = Boolean,
  { withinMs = LATEST_MS, pauseMs }: Patience = {},
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    const found = await look();
    if (isSo(found)) return found;
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > withinMs) {
      throw new Error(`not so within ${withinMs} ms; last found: ${Bun.inspect(found, { depth: 4 })}`);
    }
    await pause(pauseMs ?? Math.min(Math.max(SHORTEST_PAUSE_MS, waitedMs * PART), LONGEST_PAUSE_MS));
  }
}

function pause(ms: number): Promise<unknown> {
  return ms > 0 ? Bun.sleep(ms) : new Promise((resolve) => setImmediate(resolve));
}
