/** Looks for what an operator has to act on, and reports it in the log, to callers of `alarms`, and to `tell`. */
import {
  type Alarm,
  type AlarmChange,
  type AlarmName,
  type Condition,
  isRaised,
  judgeAlarms,
  raisedAlarms,
  type Troubles,
} from "../core/alarms/alarm.ts";
import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import { present } from "../core/present.ts";
import { createChores } from "../core/work/chores.ts";
import type { Records } from "../store/store.ts";
import { type AlarmSources, findConditions } from "./alarm-conditions.ts";

const EVERY_MS = 5_000;

export interface AlarmWatchDeps extends AlarmSources {
  readonly records: Pick<Records, "settings">;
  /** What the operator calls a connector. */
  readonly connectorName: (id: string) => Promise<string | undefined>;
  readonly clock: Clock;
  readonly log: Log;
  /** Called on every change; must not wait, nor throw. */
  readonly tell: (change: AlarmChange) => void;
}

export interface AlarmWatch {
  start(): void;
  /** Those raised in this process, the oldest first. */
  alarms(): readonly Alarm[];
  stop(): Promise<void>;
}

export function createAlarmWatch(deps: AlarmWatchDeps): AlarmWatch {
  const { clock, log, tell } = deps;
  let troubles: Troubles = new Map();

  const look = async () => {
    const [now, monotonicMs] = [clock.now(), clock.monotonicMs()];
    const settings = await deps.records.settings(undefined);
    const conditions = await findConditions(deps, {
      now,
      settings,
      isRaised: (name, subject) => isRaised(troubles, { name, subject }),
    });
    const named = await Promise.all(conditions.map((condition) => withName(deps, condition)));
    const judged = judgeAlarms(troubles, named, { now, monotonicMs });
    troubles = judged.troubles;
    for (const change of judged.changes) {
      logChange(log, change);
      tell(change);
    }
    return 0;
  };
  const { start, stop } = createChores({
    clock,
    chores: [{ name: "watch for alarms", everyMs: EVERY_MS, run: look }],
    onError: (error) => log.warn({ err: error }, "alarms could not be checked"),
  });
  return { start, alarms: () => raisedAlarms(troubles), stop };
}

const NOT_OF_CONNECTORS: ReadonlySet<AlarmName> = new Set(["queue_too_old", "disk_low", "results_unstored"]);

/** Adds the connector's name: an operator who is woken by an alarm knows the provider by its name, not by an id. */
async function withName(
  { connectorName }: Pick<AlarmWatchDeps, "connectorName">,
  condition: Condition,
): Promise<Condition> {
  if (NOT_OF_CONNECTORS.has(condition.name)) return condition;
  const subjectName = await connectorName(condition.subject);
  return { ...condition, ...present({ subjectName }) };
}

function logChange(log: Log, { kind, alarm: { name, subject, subjectName, reason } }: AlarmChange): void {
  const of = { subject, ...present({ subject_name: subjectName }) };
  const fields = { alarm: kind === "raised", alarm_name: name, ...of, reason };
  if (kind === "raised") log.warn(fields, `alarm: ${name}`);
  else log.info(fields, `alarm cleared: ${name}`);
}
