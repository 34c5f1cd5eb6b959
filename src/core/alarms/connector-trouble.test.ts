import { expect, test } from "bun:test";
import { connectorTrouble, failingTrouble } from "./connector-trouble.ts";

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

test("how a connector fails is told with what came of its attempts, the last error, and its health where that is low", () => {
  const failing = { lastedMs: 330_000, sent: 3, deferred: 230, rejected: 7, unconfirmed: 0 };
  const error = { code: "smpp.0x00000058", message: "over the allowed rate (ESME_RTHROTTLED)" };
  const throttled = { health: { score: 0.45, problems: ["throttled"] as const }, perSecond: 1 };
  const texts = [
    failingTrouble({ ...failing, error }, throttled),
    failingTrouble({ ...failing, deferred: 0, error: { code: "5.7.1", message: "" } }, {}),
  ];
  expect(texts).toEqual([
    "240 attempts in 5 minutes: 3 sent, 230 deferred, 7 rejected; the last error: over the allowed rate (ESME_RTHROTTLED) (smpp.0x00000058); health 0.45: throttled (1 a second)",
    "10 attempts in 5 minutes: 3 sent, 7 rejected; the last error: 5.7.1",
  ]);
});
