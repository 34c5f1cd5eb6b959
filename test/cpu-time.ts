/**
 * Milliseconds that the processor works for this process, in all its threads, until what `run` returns has come: of what is done at
 * once. Unlike the time that passes, they are hardly more on a busy machine.
 */
export async function cpuMsOf(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
