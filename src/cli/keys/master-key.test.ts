import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readMasterKey } from "./master-key.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "postrider-keys-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, text = "") => writeFileSync(join(folder, name), text);

test("the master key is the one that is set, or that of the key file without its line end, which is made once", () => {
  const made = readMasterKey(folder, undefined);
  expect(made).toMatch(/^[0-9a-f]{64}$/);
  expect(readMasterKey(folder, undefined)).toBe(made);
  expect(readMasterKey(folder, "one that is set")).toBe("one that is set");
  expect(readdirSync(folder)).toEqual(["master.key"]);
  expect(statSync(join(folder, "master.key")).mode & 0o777).toBe(0o600);
});

test("a key file that was cut short is refused, and not replaced", () => {
  for (const text of ["", "\n", "0123456789abcde\n"]) {
    write("master.key", text);
    expect(() => readMasterKey(folder, undefined)).toThrow("holds no master key: restore it");
  }
  write("master.key", "0123456789abcdef\n");
  expect(readMasterKey(folder, undefined)).toBe("0123456789abcdef");
});

test("no key is made beside a database, whose secrets it could not open", () => {
  write("postrider.db");
  expect(() => readMasterKey(folder, undefined)).toThrow("master.key is missing");
  expect(existsSync(join(folder, "master.key"))).toBe(false);
  expect(readMasterKey(folder, "one that is set")).toBe("one that is set");
});
