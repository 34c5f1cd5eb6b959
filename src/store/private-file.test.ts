import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writePrivateFile } from "./private-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "postrider-private-file-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const LONG = 5_000;

/** Writes long files in a process of its own, which has limits of the shell. */
function writeUnder(limits: string, times: number) {
  const [module, path] = [join(import.meta.dir, "private-file.ts"), join(folder, "key")].map((text) =>
    JSON.stringify(text),
  );
  const code = `import { writePrivateFile } from ${module};
    for (let n = 0; n < ${times}; n++) writePrivateFile(${path}, "x".repeat(${LONG}));`;
  return Bun.spawnSync(["sh", "-c", `${limits}; exec "$0" -e "$1"`, process.execPath, code]);
}

test("a file that does not become whole is a failure, as on a disk that is full", () => {
  const { exitCode, stderr } = writeUnder("trap '' XFSZ; ulimit -f 2", 1);
  expect(stderr.toString()).toContain("EFBIG");
  expect(exitCode).not.toBe(0);
  expect(writeUnder(":", 1).exitCode).toBe(0);
  expect(readFileSync(join(folder, "key"), "utf8")).toBe("x".repeat(LONG));
});

test("no file stays open", () => {
  expect(writeUnder("ulimit -n 200", 400).exitCode).toBe(0);
});

test("what was there is replaced, not written to, and is nobody else's to read", () => {
  const [path, other] = [join(folder, "key"), join(folder, "of another")];
  writeFileSync(other, "of another", { mode: 0o644 });
  symlinkSync(other, path);
  writePrivateFile(path, "secret");
  expect([readFileSync(path, "utf8"), readFileSync(other, "utf8")]).toEqual(["secret", "of another"]);
  writeFileSync(other, "open to all");
  writePrivateFile(other, "secret");
  expect([statSync(path).mode & 0o777, statSync(other).mode & 0o777]).toEqual([0o600, 0o600]);
});
