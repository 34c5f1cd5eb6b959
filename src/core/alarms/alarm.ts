/** Alarms, which an operator has to act on: when one is raised, and when it is cleared. Times are Unix milliseconds. */

import { present } from "../present.ts";

export const ALARM_NAMES = [
  "connector_down",
  "connector_bind_refused",
  "connector_credentials_refused",
  "connector_failing",
  "receipts_overdue",
  "queue_too_old",
  "disk_low",
  "results_unstored",
] as const;
export type AlarmName = (typeof ALARM_NAMES)[number];

/** Something that is wrong now. */
export interface Condition {
  readonly name: AlarmName;
  /** The id of the connector, the name of the queue, the data folder, or `database`. */
  readonly subject: string;
  /** What the operator calls the connector; absent for all else. */
  readonly subjectName?: string;
  /** In words for the operator; without secrets, numbers or addresses. */
  readonly reason: string;
  /** How long it must last before an alarm is raised. */
  readonly raiseAfterMs: number;
  /** For how long it has been so already; absent: since this look, as far as is known. */
  readonly lastedMs?: number;
}

export interface Alarm extends Pick<Condition, "name" | "subject" | "subjectName" | "reason"> {
  /** Since when it has been wrong, as far as this process knows. */
  readonly since: number;
  readonly raisedAt: number;
}

export interface AlarmChange {
  readonly kind: "raised" | "cleared";
  readonly alarm: Alarm;
  readonly at: number;
}

/** A condition that is wrong, or was until lately; an alarm once it is raised. */
interface Trouble extends Condition {
  readonly since: number;
  /** As `since`, on the monotonic clock. */
  readonly sinceMs: number;
  readonly raisedAt?: number;
  /** Since when it has been right again, on the monotonic clock. */
  readonly goodSinceMs?: number;
}

/** The time of a look. How long something has lasted goes by the monotonic clock: the other one may be set meanwhile. */
export interface LookedAt {
  /** Unix milliseconds. */
  readonly now: number;
  readonly monotonicMs: number;
  /** Whether it was seen that something is right again; absent: always. If not, what was wrong before stays so. */
  readonly isSeen?: (name: AlarmName) => boolean;
}

/** By name and subject. */
export type Troubles = ReadonlyMap<string, Trouble>;

/** An alarm is cleared when all has been well for this long, so that trouble that comes and goes is one alarm. */
export const CLEAR_AFTER_MS = 30_000;

/** Updates the known troubles with the conditions of now, and returns the alarms that this raises and clears. */
export function judgeAlarms(
  before: Troubles,
  conditions: readonly Condition[],
  { now, monotonicMs, isSeen = () => true }: LookedAt,
): { readonly troubles: Troubles; readonly changes: readonly AlarmChange[] } {
  const troubles = new Map<string, Trouble>();
  const changes: AlarmChange[] = [];
  for (const condition of conditions) {
    const key = keyOf(condition);
    const { lastedMs = 0 } = condition;
    const { goodSinceMs: _, ...known } = before.get(key) ?? {
      ...condition,
      since: now - lastedMs,
      sinceMs: monotonicMs - lastedMs,
    };
    const trouble = raiseWhenDue({ ...known, ...condition }, { now, monotonicMs });
    troubles.set(key, trouble);
    const alarm = toAlarm(trouble);
    if (alarm && known.raisedAt === undefined) changes.push({ kind: "raised", alarm, at: now });
  }
  for (const [key, trouble] of before) {
    if (troubles.has(key)) continue;
    const { goodSinceMs = monotonicMs, ...known } = trouble;
    if (!isSeen(trouble.name)) {
      troubles.set(key, known);
      continue;
    }
    const alarm = toAlarm(trouble);
    if (monotonicMs - goodSinceMs < CLEAR_AFTER_MS) troubles.set(key, { ...trouble, goodSinceMs });
    else if (alarm) changes.push({ kind: "cleared", alarm, at: now });
  }
  return { troubles, changes };
}

/** The alarms that are raised, the oldest first. */
export function raisedAlarms(troubles: Troubles): readonly Alarm[] {
  return [...troubles.values()].flatMap((trouble) => toAlarm(trouble) ?? []).sort(byTime);
}

export function isRaised(troubles: Troubles, of: Pick<Condition, "name" | "subject">): boolean {
  return troubles.get(keyOf(of))?.raisedAt !== undefined;
}

function keyOf({ name, subject }: Pick<Condition, "name" | "subject">): string {
  return `${name} ${subject}`;
}

function raiseWhenDue(trouble: Trouble, { now, monotonicMs }: LookedAt): Trouble {
  const isDue = trouble.raisedAt === undefined && monotonicMs - trouble.sinceMs >= trouble.raiseAfterMs;
  return isDue ? { ...trouble, raisedAt: now } : trouble;
}

function toAlarm({ name, subject, subjectName, reason, since, raisedAt }: Trouble): Alarm | undefined {
  if (raisedAt === undefined) return undefined;
  return { name, subject, ...present({ subjectName }), reason, since, raisedAt };
}

function byTime(a: Alarm, b: Alarm): number {
  return a.raisedAt - b.raisedAt || (keyOf(a) < keyOf(b) ? -1 : 1);
}
