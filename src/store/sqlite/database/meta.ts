import type { MetaName, OPENINGS } from "../../meta.ts";
import type { Vault } from "../../vault.ts";
import type { Database } from "./database.ts";

type Statements = Pick<Database, "prepare">;

export function readMeta(db: Statements, name: MetaName): string | undefined {
  return db.prepare<{ value: string }>("SELECT value FROM meta WHERE name = ?").get(name)?.value;
}

export function writeMeta(db: Statements, name: MetaName, value: string): void {
  db.prepare(
    "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  ).run(name, value);
}

/** False if there was none. */
export function removeMeta(db: Statements, name: MetaName): boolean {
  return db.prepare("DELETE FROM meta WHERE name = ?").run(name) > 0;
}

/** Counts one more. */
export function raiseMeta(db: Statements, name: "records_version" | typeof OPENINGS): void {
  db.prepare(
    "INSERT INTO meta (name, value) VALUES (?, '1') ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + 1",
  ).run(name);
}

/** Remembers at the first start which master key the secrets are sealed under; throws at a start with another. */
export async function checkMasterKey(db: Database, vault: Vault): Promise<void> {
  refuseOtherKey(db, vault);
  await db.write(() => writeMeta(db, "master_key_check", vault.checkValue));
}

/** Throws if the secrets of the database are sealed under another master key than this. */
export function refuseOtherKey(db: Statements, { checkValue }: Vault): void {
  const known = readMeta(db, "master_key_check");
  if (known === undefined || known === checkValue) return;
  throw new Error(
    "this database was written under another master key (POSTRIDER_SECRET or the key file of the data folder): start with that one",
  );
}
