import { type MetaName, MOVING } from "../../meta.ts";
import type { Vault } from "../../vault.ts";
import type { Session } from "./driver.ts";
import { isThere } from "./table-columns.ts";

export async function readMeta(session: Session, name: MetaName): Promise<string | undefined> {
  const [row] = await session.query<{ value: string }>("SELECT value FROM meta WHERE name = $1", [name]);
  return row?.value;
}

export async function writeMeta(session: Session, name: MetaName, value: string): Promise<void> {
  await session.query(
    "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    [name, value],
  );
}

export async function removeMeta(session: Session, name: MetaName): Promise<void> {
  await session.query("DELETE FROM meta WHERE name = $1", [name]);
}

/** To be called last in a transaction: from then on others that change records wait for it to end. */
export async function raiseRecordsVersion(session: Session): Promise<void> {
  await session.query(
    `INSERT INTO meta (name, value) VALUES ('records_version', '1')
     ON CONFLICT (name) DO UPDATE SET value = (meta.value::bigint + 1)::text`,
  );
}

/** See `EventFeed.cursorKey`. Written only if it is missing: a database that takes no writes must not stop a reader. */
export async function readCursorKey(session: Session, vault: Vault): Promise<Uint8Array> {
  const known = await readMeta(session, "event_cursor_key");
  if (known !== undefined) return Buffer.from(known, "hex");
  await session.query(
    "INSERT INTO meta (name, value) VALUES ('event_cursor_key', $1) ON CONFLICT DO NOTHING",
    [vault.newSecret()],
  );
  return Buffer.from((await readMeta(session, "event_cursor_key")) ?? "", "hex");
}

/** Stores at the first start which master key the secrets are sealed under; throws at a start with another. */
export async function checkMasterKey(session: Session, vault: Vault): Promise<void> {
  await session.query(
    "INSERT INTO meta (name, value) VALUES ('master_key_check', $1) ON CONFLICT DO NOTHING",
    [vault.checkValue],
  );
  await refuseOtherKey(session, vault);
}

/** Throws if the secrets of the database are sealed under another master key than this. */
export async function refuseOtherKey(session: Session, { checkValue }: Vault): Promise<void> {
  const known = await readMeta(session, "master_key_check");
  if (known === undefined || known === checkValue) return;
  throw new Error(
    "this database was written under another master key (POSTRIDER_SECRET): start with that one",
  );
}

/** Names the backup, or the SQLite database, that this database is being filled from; `undefined`: it is not. */
export function filledFrom(session: Session): Promise<string | undefined> {
  return readIfThere(session, MOVING);
}

/** Whether there is a service in the database. Its accounts may all have been deleted. */
export async function isServed(session: Session): Promise<boolean> {
  const hasAccounts =
    (await isThere(session, "accounts")) &&
    (await session.query("SELECT 1 FROM accounts LIMIT 1")).length > 0;
  return hasAccounts || (await readIfThere(session, "admin_token_digest")) !== undefined;
}

/** As `readMeta`, of a database that may have no schema yet. */
async function readIfThere(session: Session, name: MetaName): Promise<string | undefined> {
  return (await isThere(session, "meta")) ? readMeta(session, name) : undefined;
}

/** Throws while a service is being copied or restored into the database: half of it is not there yet. */
export async function refuseHalfMoved(session: Session): Promise<void> {
  if ((await filledFrom(session)) === undefined) return;
  throw new Error(
    "a move or a restore into this database is under way or was cut off, and half of it is missing: wait for its end, or run migrate-to or restore again",
  );
}
