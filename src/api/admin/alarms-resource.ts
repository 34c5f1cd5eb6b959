import Type from "typebox";
import { ALARM_NAMES, type Alarm } from "../../core/alarms/alarm.ts";
import { toIso } from "../../core/time/timestamp.ts";
import type { Endpoint } from "../endpoint.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { adminOnly, adminPath } from "./record-plan.ts";

/** The alarms: conditions that an operator has to deal with. */
export function alarmEndpoints({
  alarms,
  process,
}: Pick<AdminDeps, "alarms" | "process">): readonly Endpoint[] {
  return [
    {
      ...adminOnly("alarms"),
      method: "GET",
      path: adminPath("alarms"),
      operation: "listAlarms",
      summary: "List the alarms raised in the process that answers, oldest first",
      responses: { 200: { description: "All of them", schema: Alarms } },
      handle: () => Response.json({ ...toList(alarms()), process }),
    },
  ];
}

const time = (description: string) => Type.String({ format: "date-time", description });

const shown = Type.Object({
  name: Type.Enum(ALARM_NAMES, { type: "string" }),
  subject: Type.String({ description: "Id of the connector, name of the queue, or the data folder" }),
  subject_name: Type.Optional(Type.String({ description: "Name of the connector" })),
  reason: Type.String(),
  since: time("Since when it has been wrong, as far as this process knows"),
  raised_at: time("When the alarm was raised"),
});

const Alarms = Type.Object({
  data: Type.Array(shown),
  is_watching: Type.Boolean({
    description:
      "Whether this process watches for alarms. One without the role `delivery` does not, and has none",
  }),
  process: Type.Optional(
    Type.String({
      description:
        "The process that answers, as `host:process id`; absent on SQLite, where there is one. Each that delivers has alarms of its own",
    }),
  ),
});

function toList(raised: readonly Alarm[] | undefined) {
  return { data: (raised ?? []).map(toResource), is_watching: raised !== undefined };
}

function toResource({ name, subject, subjectName, reason, since, raisedAt }: Alarm) {
  const times = { since: toIso(since), raised_at: toIso(raisedAt) };
  return { name, subject, subject_name: subjectName, reason, ...times };
}
