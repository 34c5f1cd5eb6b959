import { EARLIER_KEYS, openEarlierKeys } from "../earlier-keys.ts";
import type { Vault } from "../vault.ts";
import type { Database } from "./database.ts";

/** Rotations that are remembered. */
const MAX_KEYS = 20;

/** See `Store.earlierKeys`. */
export function readEarlierKeys(db: Pick<Database, "prepare">, vault: Vault): readonly string[] {
  const row = db.prepare<{ value: string }>("SELECT value FROM meta WHERE name = 'earlier_keys'").get();
  return openEarlierKeys(vault, row?.value);
}

/** Adds one in front, and seals all of them under the new key; without one, forgets all. Inside a transaction. */
export function addEarlierKey(
  db: Pick<Database, "prepare">,
  key: string | undefined,
  { from, to }: { readonly from: Vault; readonly to: Vault },
): void {
  const keys = key === undefined ? [] : [key, ...readEarlierKeys(db, from)].slice(0, MAX_KEYS);
  db.prepare("DELETE FROM meta WHERE name = 'earlier_keys'").run();
  if (keys.length === 0) return;
  const sealed = to.seal(JSON.stringify(keys), EARLIER_KEYS.place);
  db.prepare("INSERT INTO meta (name, value) VALUES ('earlier_keys', ?)").run(sealed);
}
