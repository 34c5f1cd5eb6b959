/** docs/operations.md: the way to a new admin token, followed to the letter. */
import { afterAll, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { blocksOf, openShell } from "./documented-commands.ts";
import { makeDataFolder, startPostrider } from "./postrider-process.ts";

const folder = makeDataFolder();
afterAll(() => folder.remove());

/** `sqlite3`, where it is not installed: a database and a statement. */
const STAND_IN = `new (require("bun:sqlite").Database)(process.argv[1]).run(process.argv[2])`;

test("the documented statement gives the service another admin token, and the old one is refused", async () => {
  const first = await startPostrider({ dataFolder: folder.path });
  first.kill("SIGTERM");
  await first.exited;
  const shell = openShell(folder.path);
  const sqlite3 = join(folder.path, "sqlite3");
  writeFileSync(sqlite3, `#!/bin/sh\nexec '${process.execPath}' -e '${STAND_IN}' "$@"\n`);
  chmodSync(sqlite3, 0o755);
  const [block] = blocksOf("operations.md", "A new admin token");
  const { code, out, err } = await shell.run(block!.text.replace("data/postrider.db", "postrider.db"));
  expect([code, err]).toEqual([0, ""]);
  const token = out.trim();
  expect(token).toMatch(/^pr_admin_[0-9a-f]{48}$/);

  const service = await startPostrider({ dataFolder: folder.path });
  const where = `--url ${service.url}`;
  expect((await shell.run(`postrider accounts list ${where} --token ${token}`)).code).toBe(0);
  expect((await shell.run(`postrider accounts list ${where}`)).err).toContain("refused the admin token");
  service.kill("SIGTERM");
  await service.exited;
});
