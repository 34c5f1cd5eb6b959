import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MANIFEST_FILE, newestInside } from "./manifest.ts";

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
  expect(newestInside(parent)?.folder).toBe(join(parent, "b"));
  rmSync(parent, { recursive: true });
});
