import { expect, test } from "bun:test";
import { createLatencyHistogram } from "./latency-histogram.ts";

test("buckets are cumulative, and sum and count are those of every observation", () => {
  const histogram = createLatencyHistogram({ name: "x_seconds", help: "X", label: "op" }, [1, 10, 100]);
  for (const ms of [0.5, 1, 5, 500]) histogram.observe("a", ms);
  expect(histogram.text()).toBe(
    `# HELP x_seconds X
# TYPE x_seconds histogram
x_seconds_bucket{op="a",le="0.001"} 2
x_seconds_bucket{op="a",le="0.01"} 3
x_seconds_bucket{op="a",le="0.1"} 3
x_seconds_bucket{op="a",le="+Inf"} 4
x_seconds_sum{op="a"} 0.5065
x_seconds_count{op="a"} 4
`,
  );
});

test("without observations there is nothing to show", () => {
  expect(createLatencyHistogram({ name: "x_seconds", help: "X", label: "op" }, [1]).text()).toBe("");
});
