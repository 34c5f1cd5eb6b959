/** Ways for tests to open a store on SQLite, and to look behind it. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Inside } from "../contract/world.contract.ts";
import { createVault } from "../vault.ts";
import { type Driver, openDriver } from "./driver.ts";
import { openOn, type SqliteOptions } from "./open-sqlite.ts";

export const VAULT = createVault({ masterKey: "a master key of some length", randomBytes });

export async function openInMemory(options: Partial<SqliteOptions> = {}) {
  return openWithDriver(":memory:", options);
}

/** With the connection itself, so that a test can fill it, ask it and break it. */
export async function openWithDriver(path: string, options: Partial<SqliteOptions> = {}) {
  const driver = openDriver(path);
  const store = await openOn(driver, { vault: VAULT, ...options });
  return { store, driver, inside: lookInside(driver) };
}

/** A folder of its own for one test. */
export async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "postrider-store-"));
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ROWS_OF_MESSAGE = [
  "SELECT id FROM messages WHERE id = ?1",
  "SELECT id FROM jobs WHERE message_id = ?1",
  "SELECT position FROM timeline WHERE message_id = ?1",
  "SELECT at FROM provider_ids WHERE message_id = ?1",
  "SELECT id FROM contents WHERE first_message_id <= ?1 AND last_message_id >= ?1",
];

function lookInside(driver: Driver): Inside {
  const body = driver.prepare(
    "SELECT 1 FROM messages m JOIN contents c ON c.id = m.content WHERE m.id = ? AND c.body IS NOT NULL",
  );
  return {
    hasBody: (id) => body.get(id) !== undefined,
    countRows: (id) => ROWS_OF_MESSAGE.reduce((sum, sql) => sum + driver.prepare(sql).all(id).length, 0),
  };
}
