import { expect, test } from "bun:test";
import { Registry } from "@prometheus-io/client";
import { attemptMetrics } from "./attempt-metrics.ts";

test("a connector that is gone is shown once more and then no longer; one that runs keeps its counts", async () => {
  const registry = new Registry();
  const metrics = attemptMetrics([registry]);
  const scrape = async (...running: readonly string[]) => {
    metrics.forgetOthers(new Set(running));
    return (await registry.metrics()) + metrics.text();
  };
  const attempt = (connector: string) =>
    metrics.observe({ channel: "sms", connector, kinds: ["sent", "rejected"], ms: 3 });
  for (const connector of ["kept", "deleted"]) attempt(connector);
  expect(await scrape("kept")).toContain('connector="deleted"');
  const after = await scrape("kept");
  expect(after).not.toContain("deleted");
  expect(after).toContain(
    'postrider_attempt_outcomes_total{channel="sms",connector="kept",outcome="sent"} 1',
  );

  // Switched on again, it counts from the beginning.
  attempt("deleted");
  expect(await scrape("kept", "deleted")).toContain('connector="deleted",outcome="sent"} 1');
  expect(await scrape("kept", "deleted")).toContain('postrider_attempt_seconds_count{connector="deleted"} 1');
});
