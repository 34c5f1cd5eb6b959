import type { Vault } from "../vault.ts";

/** Under which name `meta` holds the sealed keys, and for which place they are sealed. */
export const EARLIER_KEYS = { name: "earlier_keys", place: "meta/earlier_keys" } as const;

/** Rotations that are remembered. */
const MAX_KEYS = 20;

/** Adds one in front of what lies there, sealed under the new key; without one (`undefined`) all are forgotten. */
export function withEarlierKey(
  key: string | undefined,
  sealed: string | undefined,
  { from, to }: { readonly from: Vault; readonly to: Vault },
): string | undefined {
  if (key === undefined) return undefined;
  const keys = [key, ...openEarlierKeys(from, sealed)].slice(0, MAX_KEYS);
  return to.seal(JSON.stringify(keys), EARLIER_KEYS.place);
}

/** See `Store.earlierKeys`: what lies there, opened. */
export function openEarlierKeys(vault: Vault, sealed: string | undefined): readonly string[] {
  return sealed === undefined ? [] : JSON.parse(vault.open(sealed, EARLIER_KEYS.place));
}
