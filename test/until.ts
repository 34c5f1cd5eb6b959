/** Shorter than the time limit of a test, which ends the test but not what it left running. */
const LATEST_MS = 55_000;

/** Looks again and again until what it finds is so, and resolves with it; rejects with the last if it is not in time. */
export async function until<T>(
  look: () => T | Promise<T>,
  isSo: (found: T) => boolean,
  withinMs = LATEST_MS,
): Promise<T> {
  const tooLate = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (isSo(found)) return found;
    if (performance.now() > tooLate) {
      throw new Error(`not so within ${withinMs} ms; last found: ${Bun.inspect(found, { depth: 4 })}`);
    }
    await Bun.sleep(20);
  }
}
