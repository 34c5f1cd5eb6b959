/**
 * Preloaded, makes of a process that is stopped one whose machine is asleep: the monotonic clock stands still meanwhile, as it does
 * on Linux, and the wall clock does not.
 */
const LONGEST_GAP_MS = 2_000;

const elapsed = performance.now.bind(performance);
let last = elapsed();
let asleepMs = 0;
performance.now = () => {
  const at = elapsed();
  if (at - last > LONGEST_GAP_MS) asleepMs += at - last;
  last = at;
  return at - asleepMs;
};
