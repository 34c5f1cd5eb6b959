/**
 * Has Prometheus's own promtool try each alert of deploy/prometheus.rules.yaml on the series of test/alerts.yaml, and check what a
 * process tells at /metrics. Not a test of the suite, which needs nothing but Node and npm.
 *
 *   bun scripts/check-alerts.ts
 */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostrider } from "../test/postrider-process.ts";

const ROOT = join(import.meta.dir, "..");

const promtool = Bun.which("promtool");
if (promtool === null) {
  console.error("promtool is missing: install Prometheus (on Debian `apt-get install prometheus`)");
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), "postrider-alerts-"));
copyFileSync(join(ROOT, "deploy/prometheus.rules.yaml"), join(folder, "prometheus.rules.yaml"));
copyFileSync(join(ROOT, "test/alerts.yaml"), join(folder, "alerts.yaml"));
const alerts = run(promtool, ["test", "rules", "alerts.yaml"], { cwd: folder });
rmSync(folder, { recursive: true });

const service = await startPostrider();
const told = await (await fetch(`${service.url}/metrics`)).text();
service.kill("SIGTERM");
await service.exited;
const metrics = run(promtool, ["check", "metrics"], { stdin: Buffer.from(told) });

process.exit(alerts || metrics);

function run(program: string, args: readonly string[], options: { cwd?: string; stdin?: Buffer }): number {
  console.log(`promtool ${args.join(" ")}`);
  return Bun.spawnSync([program, ...args], { ...options, stdout: "inherit", stderr: "inherit" }).exitCode;
}
