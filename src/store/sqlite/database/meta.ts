import { present } from "../../../core/present.ts";
import type { ConsoleSeal } from "../../store.ts";
import type { Vault } from "../../vault.ts";
import type { Database } from "./database.ts";

/** Single facts about the database as a whole. */
export interface Meta {
  adminTokenDigest(): string | undefined;
  /** Inside a transaction. */
  setAdminTokenDigest(digest: string): void;
  consoleSeal(): ConsoleSeal;
  /** Sets what is given of it. Inside a transaction. */
  setConsoleSeal(seal: ConsoleSeal): void;
  recordsVersion(): number;
  /** Inside a transaction. */
  raiseRecordsVersion(): void;
  cursorKey(): Uint8Array | undefined;
  /** The stored key, or a new one, which is stored. Inside a transaction. */
  makeCursorKey(): Uint8Array;
}

export function createMeta(db: Database, vault: Vault): Meta {
  const select = db.prepare<{ value: string }>("SELECT value FROM meta WHERE name = ?");
  const upsert = db.prepare(
    "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  );
  const text = (name: string) => select.get(name)?.value;
  const recordsVersion = () => Number(text("records_version") ?? 0);
  const cursorKey = () => {
    const key = text(CURSOR_KEY);
    return key === undefined ? undefined : Buffer.from(key, "hex");
  };
  return {
    adminTokenDigest: () => text("admin_token_digest"),
    setAdminTokenDigest: (digest) => void upsert.run("admin_token_digest", digest),
    consoleSeal: () =>
      present({ passwordDigest: text("console_password_digest"), round: text("console_round") }),
    setConsoleSeal({ passwordDigest, round }) {
      if (passwordDigest !== undefined) upsert.run("console_password_digest", passwordDigest);
      if (round !== undefined) upsert.run("console_round", round);
    },
    recordsVersion,
    cursorKey,
    makeCursorKey() {
      const known = cursorKey();
      if (known) return known;
      const key = vault.newSecret();
      upsert.run(CURSOR_KEY, key);
      return Buffer.from(key, "hex");
    },
    raiseRecordsVersion: () => void upsert.run("records_version", String(recordsVersion() + 1)),
  };
}

const CURSOR_KEY = "event_cursor_key";

/** Where `meta` counts how often a service opened the database, or gave it another key: whether one has written to it since. */
export const OPENINGS = "openings";

/** Counts an opening, in a transaction of its own. */
export async function noteOpening(db: Database): Promise<void> {
  await db.write(() => raiseOpenings(db));
}

/** Counts an opening, within a transaction. */
export function raiseOpenings(db: Pick<Database, "prepare">): void {
  const raise = db.prepare(
    "INSERT INTO meta (name, value) VALUES (?, '1') ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + 1",
  );
  raise.run(OPENINGS);
}

/** Remembers at the first start which master key the secrets are sealed under; throws at a start with another. */
export async function checkMasterKey(db: Database, vault: Vault): Promise<void> {
  refuseOtherKey(db, vault);
  const insert = db.prepare(
    "INSERT INTO meta (name, value) VALUES ('master_key_check', ?) ON CONFLICT DO NOTHING",
  );
  await db.write(() => insert.run(vault.checkValue));
}

/** Throws if the secrets of the database are sealed under another master key than this. */
export function refuseOtherKey(db: Pick<Database, "prepare">, { checkValue }: Vault): void {
  const known = db.prepare<{ value: string }>("SELECT value FROM meta WHERE name = 'master_key_check'").get();
  if (known === undefined || known.value === checkValue) return;
  throw new Error(
    "this database was written under another master key (POSTRIDER_SECRET or the key file of the data folder): start with that one",
  );
}
