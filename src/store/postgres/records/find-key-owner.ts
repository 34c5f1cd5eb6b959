import type { Account } from "../../../core/records/accounts.ts";
import type { KeyOwner } from "../../../core/records/api-key.ts";
import type { Records } from "../../store.ts";
import type { Database } from "../database/transactions.ts";
import { readSettings } from "./account-settings.ts";

/** `Records.findKeyOwner`. */
export function createFindKeyOwner(db: Database): Records["findKeyOwner"] {
  return async (digest): Promise<KeyOwner | undefined> => {
    const [row] = await db.query<OwnerRow>(FIND_OWNER, [digest]);
    if (!row) return undefined;
    const settingsOf = await readSettings(db, [row.id]);
    const account: Account = { id: row.id, name: row.name, mode: row.mode, createdAt: row.created_at };
    return { keyId: row.key_id, account, settings: settingsOf(row.id) };
  };
}

interface OwnerRow {
  readonly key_id: string;
  readonly id: string;
  readonly name: string;
  readonly mode: Account["mode"];
  readonly created_at: number;
}

const FIND_OWNER = `SELECT k.id AS key_id, a.id, a.name, a.mode, a.created_at
  FROM api_keys k JOIN accounts a ON a.id = k.account_id WHERE k.digest = $1 AND k.revoked_at IS NULL`;
