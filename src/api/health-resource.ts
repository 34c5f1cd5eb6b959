/** A connector's health as the interface shows it, to operators and in a dry run. */
import Type from "typebox";
import type { ConnectorHealth } from "../core/alarms/connector-health.ts";

export const HEALTH = Type.Object(
  {
    score: Type.Number({ minimum: 0, maximum: 1 }),
    problems: Type.Array(Type.Enum(["down", "throttled", "errors", "slow_receipts"], { type: "string" })),
  },
  { description: "Below a score of 0.5 it is passed over where its route has a healthier connector" },
);

export function toHealth({ score, problems }: ConnectorHealth) {
  return { score: Math.floor(score * 100) / 100, problems };
}
