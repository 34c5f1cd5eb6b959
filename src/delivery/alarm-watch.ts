/** Looks for what an operator has to act on, and reports it: in the log, to whoever asks, and to `tell`. */
import {
  type Alarm,
  type AlarmChange,
  isRaised,
  judgeAlarms,
  raisedAlarms,
  type Troubles,
} from "../core/alarms/alarm.ts";
import { type Clock, sleep } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import type { Records } from "../store/store.ts";
import { type AlarmSources, findConditions } from "./alarm-conditions.ts";

const EVERY_MS = 5_000;

export interface AlarmWatchDeps extends AlarmSources {
  readonly records: Pick<Records, "settings">;
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
  const stopping = new AbortController();
  let troubles: Troubles = new Map();
  let watching: Promise<void> | undefined;

  const look = async () => {
    const now = clock.now();
    const settings = await deps.records.settings(undefined);
    const conditions = await findConditions(deps, {
      now,
      settings,
      isRaised: (name, subject) => isRaised(troubles, { name, subject }),
    });
    const judged = judgeAlarms(troubles, conditions, now);
    troubles = judged.troubles;
    for (const change of judged.changes) {
      logChange(log, change);
      tell(change);
    }
  };
  const watch = async () => {
    while (!stopping.signal.aborted) {
      await look().catch((error) => log.warn({ err: error }, "alarms could not be checked"));
      await sleep(clock, EVERY_MS, stopping.signal);
    }
  };

  return {
    start() {
      watching = watch();
    },
    alarms: () => raisedAlarms(troubles),
    async stop() {
      stopping.abort();
      await watching;
    },
  };
}

function logChange(log: Log, { kind, alarm: { name, subject, reason } }: AlarmChange): void {
  const fields = { alarm: kind === "raised", alarm_name: name, subject, reason };
  if (kind === "raised") log.warn(fields, `alarm: ${name}`);
  else log.info(fields, `alarm cleared: ${name}`);
}
