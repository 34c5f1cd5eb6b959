import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureDataFolder, refuseHalfRestored } from "./data-folder.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "postrider-data-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string) => writeFileSync(join(folder, name), "");

test("a folder that is made is its owner's only, as is what this process writes from then on", () => {
  const before = process.umask(0o022);
  try {
    const deep = join(folder, "in", "another");
    expect(ensureDataFolder(deep, { isWritten: true })).toBe(join(folder, "in"));
    expect(statSync(deep).mode & 0o777).toBe(0o700);
    writeFileSync(join(deep, "file"), "");
    expect(statSync(join(deep, "file")).mode & 0o077).toBe(0);
    expect(ensureDataFolder(deep, { isWritten: true })).toBeUndefined();
  } finally {
    process.umask(before);
  }
});

test("a service starts on no folder into which a restore was cut off, and on every other", () => {
  refuseHalfRestored(folder);
  write("postrider.db.restoring");
  expect(() => refuseHalfRestored(folder)).toThrow("is under way or was cut off");
  // The database gets its name when it is complete.
  write("postrider.db");
  refuseHalfRestored(folder);
});
