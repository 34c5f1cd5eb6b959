import { openEarlierKeys, withEarlierKey } from "../../records/earlier-keys.ts";
import type { Vaults } from "../../records/rotation.ts";
import type { Vault } from "../../vault.ts";
import type { Database } from "../database/database.ts";

/** See `Store.earlierKeys`. */
export function readEarlierKeys(db: Pick<Database, "prepare">, vault: Vault): readonly string[] {
  return openEarlierKeys(vault, readSealed(db));
}

/** Puts `key` first and seals all keys under the new master key; without a `key`, drops them all. Inside a transaction. */
export function addEarlierKey(db: Pick<Database, "prepare">, key: string | undefined, vaults: Vaults): void {
  const sealed = withEarlierKey(key, readSealed(db), vaults);
  db.prepare("DELETE FROM meta WHERE name = 'earlier_keys'").run();
  if (sealed === undefined) return;
  db.prepare("INSERT INTO meta (name, value) VALUES ('earlier_keys', ?)").run(sealed);
}

function readSealed(db: Pick<Database, "prepare">): string | undefined {
  return db.prepare<{ value: string }>("SELECT value FROM meta WHERE name = 'earlier_keys'").get()?.value;
}
