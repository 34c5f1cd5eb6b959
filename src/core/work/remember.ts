/** Sets an entry, as the latest, of a map that holds `most` entries: in place of one more, the one that was set the longest ago goes. */
export function remember<Key, Value>(
  entries: Map<Key, Value>,
  [key, value]: readonly [Key, Value],
  most: number,
): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size <= most) return;
  for (const oldest of entries.keys()) return void entries.delete(oldest);
}
