import type { KeyOwner } from "../../../core/records/api-key.ts";
import type { Records } from "../../store.ts";
import type { Database } from "../database/database.ts";
import type { AccountCache } from "./account-cache.ts";

/** `Records.findKeyOwner`. */
export function createFindKeyOwner(db: Database, accounts: AccountCache): Records["findKeyOwner"] {
  const find = db.prepare<{ id: string; account_id: string }>(
    "SELECT id, account_id FROM api_keys WHERE digest = ? AND revoked_at IS NULL",
  );
  return (digest) =>
    db.read((): KeyOwner | undefined => {
      const key = find.get(digest);
      const entry = key && accounts.byId(key.account_id);
      return entry && { keyId: key.id, account: entry.account, settings: entry.settings };
    });
}
