/**
 * The number behind which events are numbered once a backup is restored. Events that came after the backup had numbers too, and
 * readers have their cursors. If the numbers went on from the backup's last one, new events would get the same ones, and a reader
 * would miss those up to its cursor. How many numbers were given nobody knows any more, so the time decides: counted in
 * microseconds it is ahead of any number, unless a million events a second have been numbered, and until the year 2255 it is one
 * that is exact in JavaScript. It is also ahead of what was given after an earlier restore.
 *
 * @param now Unix milliseconds
 */
export function numberAfterRestore(now: number): number {
  return now * 1_000;
}
