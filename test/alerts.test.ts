/** The alerts for Prometheus, as far as they can be judged where promtool is not installed, and by it where it is. */
import { expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostrider } from "./postrider-process.ts";

const RULES = join(import.meta.dir, "../deploy/prometheus.rules.yaml");

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string };
}

const { groups } = Bun.YAML.parse(readFileSync(RULES, "utf8")) as {
  readonly groups: readonly { readonly rules: readonly Alert[] }[];
};
const alerts = groups.flatMap(({ rules }) => rules);

test("an alert that tells a value tells the metric's own, with its sign", () => {
  const told = alerts.filter(({ annotations }) => annotations.summary.includes("$value"));
  expect(told.length).toBeGreaterThan(1);
  expect(told.filter(({ expr }) => expr.includes("abs("))).toEqual([]);
});

test("that a process is not ready, as at each start, is no error of the server", () => {
  const { expr = "" } = alerts.find(({ alert }) => alert === "PostriderServerErrors") ?? {};
  const selected = [...expr.matchAll(/\{(?<matchers>[^}]*5\.\.[^}]*)\}/g)].map(
    ({ groups: { matchers = "" } = {} }) => matchers,
  );
  expect(selected.length).toBeGreaterThan(1);
  for (const matchers of selected) expect(matchers).toContain('operation!="readyz"');
});

const promtool = Bun.which("promtool") ?? "promtool";
const testPromtool = test.skipIf(Bun.which("promtool") === null); // skipped: promtool, of Prometheus, is not installed

testPromtool("each alert begins and ends as alerts.yaml says", () => {
  const folder = mkdtempSync(join(tmpdir(), "postrider-alerts-"));
  copyFileSync(RULES, join(folder, "prometheus.rules.yaml"));
  copyFileSync(join(import.meta.dir, "alerts.yaml"), join(folder, "alerts.yaml"));
  const { exitCode, stdout, stderr } = Bun.spawnSync([promtool, "test", "rules", "alerts.yaml"], {
    cwd: folder,
  });
  rmSync(folder, { recursive: true });
  expect({ exitCode, said: `${stdout}${stderr}` }).toEqual({
    exitCode: 0,
    said: expect.stringContaining("SUCCESS"),
  });
});

testPromtool("promtool has no complaint about what a process tells", async () => {
  const service = await startPostrider();
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  service.kill("SIGTERM");
  await service.exited;
  const { exitCode, stdout, stderr } = Bun.spawnSync([promtool, "check", "metrics"], {
    stdin: Buffer.from(metrics),
  });
  expect({ exitCode, said: `${stdout}${stderr}` }).toEqual({ exitCode: 0, said: "" });
});
