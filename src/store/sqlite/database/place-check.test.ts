import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createVault } from "../../vault.ts";
import { openSqlite } from "../open-sqlite.ts";
import { createPlaceCheck } from "./place-check.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "postrider-place-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

test("a database that is opened through a symbolic link is where it belongs", async () => {
  mkdirSync(join(folder, "real"));
  writeFileSync(join(folder, "real", "store.db"), "");
  symlinkSync(join(folder, "real", "store.db"), join(folder, "link.db"));
  const vault = createVault({ masterKey: "m".repeat(40), randomBytes: (size) => Buffer.alloc(size, 1) });
  const store = await openSqlite({ path: join(folder, "link.db"), vault });
  await store.records.setSettings(undefined, { a: "1" });
  expect(await store.records.settings(undefined)).toEqual({ a: "1" });
  await store.close();
});

test("files that have taken the place of those first looked at are refused, and those put back are not", () => {
  const path = join(folder, "store.db");
  for (const file of [path, `${path}-wal`]) writeFileSync(file, "");
  const check = createPlaceCheck(path);
  check();
  renameSync(`${path}-wal`, `${path}-elsewhere`);
  expect(check).toThrow("has been moved, removed or replaced");
  writeFileSync(`${path}-wal`, "");
  expect(check).toThrow("has been moved, removed or replaced");
  renameSync(`${path}-elsewhere`, `${path}-wal`);
  check();
});
