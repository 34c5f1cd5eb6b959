/** How many large messages are sent at the same time: a fifth of the connections, and at most the 4 that the composing thread keeps up with. */
export function largeAtATime(maxConnections: number): number {
  return Math.min(4, Math.max(1, Math.floor(maxConnections / 5)));
}
