/** The alerts for Prometheus, as far as they can be judged without promtool; scripts/check-alerts.ts has it judge the rest. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

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
