/** How many large messages are sent at once: a fifth of the connections, at most what the composing thread keeps up with. */
export function largeAtATime(maxConnections: number): number {
  return Math.min(4, Math.max(1, Math.floor(maxConnections / 5)));
}
