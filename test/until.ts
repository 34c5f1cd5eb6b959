/** Shorter than the time limit of a test, which ends the test but not what it left running. */
const LATEST_MS = 55_000;

export interface Patience {
  /** In real time. */
  readonly withinMs?: number;
  /** Between one look and the next; with 0 what has come in is worked off, and no time passes. */
  readonly pauseMs?: number;
}

/** Looks again and again until what it finds is so, and resolves with it; rejects with the last if it is not in time. */
export async function until<T>(
  look: () => T | Promise<T>,
  isSo: (found: T) => boolean = Boolean,
  { withinMs = LATEST_MS, pauseMs = 20 }: Patience = {},
): Promise<T> {
  const tooLate = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (isSo(found)) return found;
    if (performance.now() > tooLate) {
      throw new Error(`not so within ${withinMs} ms; last found: ${Bun.inspect(found, { depth: 4 })}`);
    }
    await (pauseMs > 0 ? Bun.sleep(pauseMs) : new Promise((resolve) => setImmediate(resolve)));
  }
}
