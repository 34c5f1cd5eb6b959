/** Looks again and again until what it finds is so, and resolves with it; the test's own time limit ends it. */
export async function until<T>(look: () => Promise<T>, isSo: (found: T) => boolean): Promise<T> {
  for (;;) {
    const found = await look();
    if (isSo(found)) return found;
    await Bun.sleep(20);
  }
}
