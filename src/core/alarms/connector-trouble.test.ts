import { expect, test } from "bun:test";
import { connectorTrouble } from "./connector-trouble.ts";

test("what slows a connector is told with its health, and with the rate that the provider leaves", () => {
  const texts = [
    { health: { score: 0.45, problems: ["throttled"] as const }, perSecond: 3.27 },
    { health: { score: 0.2512, problems: ["throttled", "errors"] as const } },
    { health: { score: 0.8, problems: ["slow_receipts"] as const }, perSecond: 100 },
  ].map(connectorTrouble);
  expect(texts).toEqual([
    "health 0.45: throttled (3.3 a second)",
    "health 0.25: throttled, errors",
    "health 0.8: slow_receipts",
  ]);
});

test("nothing is told of a connector that is well, or only down, which its state says", () => {
  const texts = [
    { health: { score: 0.95, problems: [] }, perSecond: 100 },
    { health: { score: 0, problems: ["down"] as const } },
    {},
  ].map(connectorTrouble);
  expect(texts).toEqual([undefined, undefined, undefined]);
});

test("a connector that is passed over is not told as one that is healthy, and a score that was shown before stays as it is", () => {
  const problems = ["throttled"] as const;
  const texts = [0.4996, 0.29, 0.57, 1].map((score) => connectorTrouble({ health: { score, problems } }));
  expect(texts).toEqual(["0.49", "0.29", "0.57", "1"].map((shown) => `health ${shown}: throttled`));
});
