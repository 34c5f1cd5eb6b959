import type { Vault } from "./vault.ts";

/** Under which name `meta` holds the sealed keys, and for which place they are sealed. */
export const EARLIER_KEYS = { name: "earlier_keys", place: "meta/earlier_keys" } as const;

/** See `Store.earlierKeys`: what lies there, opened. */
export function openEarlierKeys(vault: Vault, sealed: string | undefined): readonly string[] {
  return sealed === undefined ? [] : JSON.parse(vault.open(sealed, EARLIER_KEYS.place));
}
