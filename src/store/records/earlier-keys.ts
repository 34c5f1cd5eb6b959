import { openFact, sealFact } from "../meta.ts";
import type { Vault } from "../vault.ts";
import type { Vaults } from "./rotation.ts";

/** The stored keys, opened; see `Store.earlierKeys`. */
export function openEarlierKeys(vault: Vault, sealed: string | undefined): readonly string[] {
  return sealed === undefined ? [] : JSON.parse(openFact(vault, "earlier_keys", sealed));
}

/** The most keys that are kept; older ones are dropped. */
const MAX_KEYS = 20;

/** The stored keys, with `key` put first, sealed under the new master key. Without a `key`: `undefined`, which drops them all. */
export function withEarlierKey(
  key: string | undefined,
  sealed: string | undefined,
  { from, to }: Vaults,
): string | undefined {
  if (key === undefined) return undefined;
  const keys = [key, ...openEarlierKeys(from, sealed)].slice(0, MAX_KEYS);
  return sealFact(to, "earlier_keys", JSON.stringify(keys));
}
