import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkFiles, MANIFEST_FILE, type Manifest, newestInside, readManifest } from "./manifest.ts";

const HOLDS = { accounts: 0, connectors: 0, domains: 0, messages: 0, unfinished: 0 };

test("of the backups in a folder the newest is found, whatever their names", () => {
  const parent = mkdtempSync(join(tmpdir(), "postrider-backups-"));
  expect(newestInside(parent)).toBeUndefined();
  for (const [name, day] of [
    ["a", "02"],
    ["b", "03"],
    ["c", "01"],
    ["d", "02"],
  ] as const) {
    mkdirSync(join(parent, name));
    const created_at = `2026-01-${day}T00:00:00.000Z`;
    const manifest = { format: 1, version: "0", created_at, files: {}, holds: HOLDS };
    writeFileSync(join(parent, name, MANIFEST_FILE), JSON.stringify(manifest));
  }
  mkdirSync(join(parent, "e"));
  // Another program's.
  mkdirSync(join(parent, "f"));
  writeFileSync(join(parent, "f", MANIFEST_FILE), JSON.stringify({ created_at: "2027-01-01T00:00:00.000Z" }));
  expect(newestInside(parent)?.folder).toBe(join(parent, "b"));
  rmSync(parent, { recursive: true });
});

test("a manifest of another format, or without a count, is not read as a backup's", () => {
  const folder = mkdtempSync(join(tmpdir(), "postrider-backups-"));
  const manifest = { format: 1, version: "0", created_at: "", files: {}, holds: HOLDS };
  const read = (over: object) => {
    writeFileSync(join(folder, MANIFEST_FILE), JSON.stringify({ ...manifest, ...over }));
    return readManifest(folder);
  };
  expect(read({})).toEqual(manifest as Manifest);
  for (const over of [{ format: 2 }, { holds: { ...HOLDS, messages: -1 } }, { files: { "postrider.db": 1 } }])
    expect(() => read(over)).toThrow("does not describe a backup that this version can read");
  writeFileSync(join(folder, MANIFEST_FILE), "{");
  expect(() => readManifest(folder)).toThrow("backup.json cannot be read (SyntaxError");
  rmSync(folder, { recursive: true });
});

test("each file of a backup has to be the one that was backed up, and to be there", async () => {
  const folder = mkdtempSync(join(tmpdir(), "postrider-backups-"));
  const names = ["postrider.db", "master.key", "sandbox.json"];
  const digest = (text: string) => createHash("sha256").update(text).digest("hex");
  const files = Object.fromEntries(names.map((name) => [name, digest(name)]));
  const manifest = { format: 1, version: "0", created_at: "", files, holds: HOLDS } as const;
  const check = () => checkFiles(folder, manifest, () => {});
  for (const name of names) writeFileSync(join(folder, name), name);
  await check();
  for (const name of names) {
    writeFileSync(join(folder, name), "of another backup");
    await expect(check()).rejects.toThrow(`${join(folder, name)} is damaged`);
    rmSync(join(folder, name));
    await expect(check()).rejects.toThrow(`${join(folder, name)} is damaged`);
    writeFileSync(join(folder, name), name);
  }
  rmSync(folder, { recursive: true });
});
