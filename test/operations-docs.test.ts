/** docs/keys.md: the way to a new admin token, followed to the letter. docs/monitoring.md: the metrics that it lists. */
import { afterAll, expect, test } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { blocksOf, openShell } from "./documented-commands.ts";
import { makeDataFolder, startPostrider } from "./postrider-process.ts";

const ROOT = join(import.meta.dir, "..");

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
  const [block] = blocksOf("keys.md", "A new admin token");
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

test("the page lists every metric, and the alerts to install are made of nothing else", async () => {
  const service = await startPostrider();
  const text = await (await fetch(`${service.url}/metrics`)).text();
  service.kill("SIGTERM");
  await service.exited;
  const told = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name = ""]) => name);
  const page = readFileSync(join(ROOT, "docs/monitoring.md"), "utf8");
  const listed = new Set([...page.matchAll(/`((?:postrider|process)_\w+)`/g)].map(([, name = ""]) => name));
  expect(told.length).toBeGreaterThan(30);
  expect(told.filter((name) => !listed.has(name))).toEqual([]);
  const alerts = readFileSync(join(ROOT, "deploy/prometheus.rules.yaml"), "utf8");
  const used = [...alerts.matchAll(/\b(?:postrider|process)_\w+/g)].map(([name]) =>
    name.replace(/_bucket$/, ""),
  );
  expect(used.length).toBeGreaterThan(8);
  expect(used.filter((name) => !listed.has(name))).toEqual([]);
});
