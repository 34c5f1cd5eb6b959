/** A fifth of the connections, and no more than the thread that makes large mail is good for. */
export function largeAtATime(maxConnections: number): number {
  return Math.min(4, Math.max(1, Math.floor(maxConnections / 5)));
}
