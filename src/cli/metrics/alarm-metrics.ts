import { Gauge, type Registry } from "@prometheus-io/client";
import type { Alarm } from "../../core/alarms/alarm.ts";

/** A gauge of the raised alarms; the returned function sets it. */
export function alarmMetrics(registers: Registry[]): (alarms: readonly Alarm[]) => void {
  const gauge = new Gauge({
    name: "postrider_alarm",
    help: "1 while an alarm is raised; the subject is a connector's id, a queue's name or a folder",
    labelNames: ["name", "subject"],
    registers,
  });
  return (alarms) => {
    gauge.reset();
    for (const { name, subject } of alarms) gauge.labels(name, subject).set(1);
  };
}
