import { Gauge, type Registry } from "@prometheus-io/client";
import type { Alarm } from "../../core/alarms/alarm.ts";
import { present } from "../../core/present.ts";

/** A gauge of the raised alarms; the returned function sets it. */
export function alarmMetrics(registers: Registry[]): (alarms: readonly Alarm[]) => void {
  const gauge = new Gauge({
    name: "postrider_alarm",
    help: "1 while an alarm is raised; the subject is a connector's id, which has a name too, a queue's name or a folder",
    labelNames: ["name", "subject", "subject_name"],
    registers,
  });
  return (alarms) => {
    gauge.reset();
    for (const { name, subject, subjectName } of alarms)
      gauge.set({ name, subject, ...present({ subject_name: subjectName }) }, 1);
  };
}
