/** A connector's state and health as the interface shows them, to operators and in a dry run. */
import Type from "typebox";
import { CHANNEL_STATES } from "../channels/channel.ts";
import { type ConnectorHealth, HEALTH_PROBLEMS, shownScore } from "../core/alarms/connector-health.ts";

export const CONNECTOR_STATE = Type.Enum([...CHANNEL_STATES, "unknown"], {
  type: "string",
  description: "`unknown`: not run by the process that answered",
});

export const HEALTH = Type.Object(
  {
    score: Type.Number({ minimum: 0, maximum: 1 }),
    problems: Type.Array(Type.Enum(HEALTH_PROBLEMS, { type: "string" })),
  },
  { description: "Below a score of 0.5 it is passed over where its route has a healthier connector" },
);

export function toHealth({ score, problems }: ConnectorHealth) {
  return { score: shownScore(score), problems };
}
