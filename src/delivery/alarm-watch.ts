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
import { errorText } from "../core/error-text.ts";
import type { Log } from "../core/log.ts";
import { present } from "../core/present.ts";
import type { StoredSettings } from "../core/records/settings.ts";
import { createChores } from "../core/work/chores.ts";
import { type AlarmSources, type Found, findConditions, type Look } from "./alarm-conditions.ts";

const EVERY_MS = 5_000;

export interface AlarmWatchDeps extends AlarmSources {
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
  let settings: StoredSettings = {};
  const tellUnseen = createUnseenLog(log);

  const look = async () => {
    const [now, monotonicMs] = [clock.now(), clock.monotonicMs()];
    const found = await findConditions(deps, {
      now,
      settings,
      isRaised: (name, subject) => isRaised(troubles, { name, subject }),
    });
    settings = found.settings;
    tellUnseen(found.unseen);
    const named = await Promise.all(found.conditions.map((condition) => withName(deps, condition)));
    const judged = judgeAlarms(troubles, named, { now, monotonicMs, isSeen: isSeenIn(found) });
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

/**
 * Whether an alarm may be cleared. None while the database is away: a process that cannot renew its leases stops its connectors, which
 * then are not down.
 */
function isSeenIn({ unseen }: Found): (name: AlarmName) => boolean {
  return (name) => !(unseen.has("settings") || unseen.has(name));
}

/** Makes a function that logs what cannot be looked at any more, and what can again: once, and not at every look. */
function createUnseenLog(log: Log): (unseen: Found["unseen"]) => void {
  let before: Found["unseen"] = new Map();
  return (unseen) => {
    for (const [at, error] of unseen) {
      // As text: lines with an error are left out beside others about an outage.
      if (!before.has(at)) log.warn({ ...ofLook(at), reason: errorText(error) }, UNSEEN);
    }
    for (const at of before.keys())
      if (!unseen.has(at)) log.info(ofLook(at), "alarms can be looked for again");
    before = unseen;
  };
}

const UNSEEN = "alarms cannot be looked for; those that are raised stay";

/** While the settings cannot be read, it is any alarm. */
function ofLook(at: Look): Record<string, unknown> {
  return at === "settings" ? {} : { alarm_name: at };
}

const NOT_OF_CONNECTORS: ReadonlySet<AlarmName> = new Set(["queue_too_old", "disk_low", "results_unstored"]);

/** Adds the connector's name: an operator who is woken by an alarm knows the provider by its name, not by an id. */
async function withName(
  { connectorName }: Pick<AlarmWatchDeps, "connectorName">,
  condition: Condition,
): Promise<Condition> {
  if (NOT_OF_CONNECTORS.has(condition.name)) return condition;
  // Rather without the name than not at all.
  const subjectName = await connectorName(condition.subject).catch(() => undefined);
  return { ...condition, ...present({ subjectName }) };
}

function logChange(log: Log, { kind, alarm: { name, subject, subjectName, reason } }: AlarmChange): void {
  const of = { subject, ...present({ subject_name: subjectName }) };
  const fields = { alarm: kind === "raised", alarm_name: name, ...of, reason };
  if (kind === "raised") log.warn(fields, `alarm: ${name}`);
  else log.info(fields, `alarm cleared: ${name}`);
}
