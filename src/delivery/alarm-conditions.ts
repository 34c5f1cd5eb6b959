/** What is wrong now, as far as this process can see: the conditions that alarms are raised for. */
import type { ChannelStatus, ConnectorStatus } from "../channels/channel.ts";
import type { AlarmName, Condition } from "../core/alarms/alarm.ts";
import { connectorTrouble, type Failing, failingTrouble } from "../core/alarms/connector-trouble.ts";
import { readSetting, type StoredSettings } from "../core/records/settings.ts";
import { isOutage, type Queue, type QueueBacklog, type ReceiptStore, type Records } from "../store/store.ts";

export interface AlarmSources {
  readonly records: Pick<Records, "settings">;
  readonly queue: Pick<Queue, "backlog">;
  readonly receipts: Pick<ReceiptStore, "countOverdue">;
  /** The connectors that this process runs. */
  readonly connectors: () => readonly WatchedConnector[];
  /** Those that may send what waits in a queue. */
  readonly connectorsOf: (queue: string) => readonly QueueConnector[];
  /** For how many messages this process keeps what became of them, since it cannot be stored. */
  readonly unstored: () => number;
  /** The disk that the database is on; absent if it belongs to another machine. */
  readonly disk?: () => Promise<Disk>;
}

/** A connector that this process runs. */
export interface WatchedConnector {
  readonly id: string;
  readonly status: ConnectorStatus;
  /** Absent unless it is up and fails most of what it is given. */
  readonly failing?: Failing;
}

/** A connector that a queue waits for. */
export interface QueueConnector {
  /** What the operator calls it. */
  readonly name: string;
  /** Absent if it is disabled, or of an unknown kind. */
  readonly status?: ConnectorStatus;
}

/** A disk as far as this process may use it, in octets. */
export interface Disk {
  readonly folder: string;
  readonly free: number;
  readonly size: number;
}

export interface Situation {
  readonly now: number;
  /** The instance's, by name, as they were last: they count if they cannot be read. */
  readonly settings: StoredSettings;
  readonly isRaised: (name: AlarmName, subject: string) => boolean;
}

/** What was looked at: the instance's settings, or what an alarm is about. */
export type Look = "settings" | AlarmName;

export interface Found {
  readonly conditions: readonly Condition[];
  /** The settings as they are, or were when they could be read last. */
  readonly settings: StoredSettings;
  /** What could not be looked at, and why. Without the settings, what is missing from `conditions` may be so all the same. */
  readonly unseen: ReadonlyMap<Look, unknown>;
}

/** A look that fails hides no other. While the database is away it is asked for the settings only: each answer may take long. */
export async function findConditions(sources: AlarmSources, situation: Situation): Promise<Found> {
  const { records, queue, receipts, connectors, connectorsOf, unstored, disk } = sources;
  const unseen = new Map<Look, unknown>();
  const look = async <T>(at: Look, read: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await read();
    } catch (error) {
      unseen.set(at, error);
      return undefined;
    }
  };
  const settings = (await look("settings", () => records.settings(undefined))) ?? situation.settings;
  const isAway = isOutage(unseen.get("settings"));
  const room = await look("disk_low", async () => disk?.());
  const backlogs = isAway ? [] : ((await look("queue_too_old", () => queue.backlog(1))) ?? []);
  const overdue = isAway ? [] : ((await look("receipts_overdue", () => receipts.countOverdue())) ?? []);
  const now = { ...situation, settings };
  const running = new Set(connectors().map(({ id }) => id));
  const conditions = [
    ...ofDisk(room, now),
    ...ofUnstored(unstored()),
    ...connectors().flatMap((connector) => ofConnector(connector, now)),
    ...backlogs.flatMap((backlog) => ofQueue(backlog, connectorsOf, now)),
    // Receipts of a connector that was deleted or switched off never come, and nobody can do anything about it.
    ...overdue.filter(({ connectorId }) => running.has(connectorId)).flatMap((each) => ofReceipts(each, now)),
  ];
  return { conditions, settings, unseen };
}

/** On a small disk the limit is this part of it. */
const PART_OF_DISK = 0.1;

/** A raised alarm is cleared only above this multiple of its limit. */
const CLEARED_ABOVE = 1.25;

const MEGABYTE = 1_000_000;

function ofDisk(disk: Disk | undefined, { settings, isRaised }: Situation): readonly Condition[] {
  if (!disk) return [];
  const { folder, free, size } = disk;
  const limit = Math.min(readSetting(settings, "alarm_free_disk_mb") * MEGABYTE, size * PART_OF_DISK);
  if (free >= limit * (isRaised("disk_low", folder) ? CLEARED_ABOVE : 1)) return [];
  const reason = `${Math.floor(free / MEGABYTE)} MB are free: on a full disk nothing is accepted`;
  return [{ name: "disk_low", subject: folder, reason, raiseAfterMs: 0 }];
}

/** Raised at once: a restart forgets what is kept. */
function ofUnstored(count: number): readonly Condition[] {
  if (count === 0) return [];
  const reason = `what became of ${count} messages cannot be stored; a restart forgets it, and sends them again`;
  return [{ name: "results_unstored", subject: "database", reason, raiseAfterMs: 0 }];
}

/** The alarm for each fault that a channel reports: faults that do not mend themselves. */
const ALARM_OF_FAULT: Readonly<Record<NonNullable<ChannelStatus["alarm"]>, AlarmName>> = {
  bind_refused: "connector_bind_refused",
  credentials_refused: "connector_credentials_refused",
};

function ofConnector(
  { id, status, failing }: WatchedConnector,
  { settings }: Situation,
): readonly Condition[] {
  const { state, alarm, health, rate, reason = `it is ${state}` } = status;
  const conditions: Condition[] = [];
  if (state === "down" || state === "connecting") {
    const raiseAfterMs = readSetting(settings, "alarm_connector_down_seconds") * 1_000;
    conditions.push({ name: "connector_down", subject: id, reason, raiseAfterMs });
  }
  if (alarm) conditions.push({ name: ALARM_OF_FAULT[alarm], subject: id, reason, raiseAfterMs: 0 });
  if (failing) {
    const how = failingTrouble(failing, { health, perSecond: rate?.perSecond });
    const lasted = { raiseAfterMs: 0, lastedMs: failing.lastedMs };
    conditions.push({ name: "connector_failing", subject: id, reason: how, ...lasted });
  }
  return conditions;
}

/** A raised alarm is cleared only below this part of its limit, so that a value hovering at the limit raises one alarm. */
const CLEARED_BELOW = 0.5;

function ofQueue(
  { queue, oldestReadySince }: QueueBacklog,
  connectorsOf: AlarmSources["connectorsOf"],
  { now, settings, isRaised }: Situation,
): readonly Condition[] {
  const limit = readSetting(settings, "alarm_queue_age_seconds");
  const age = Math.floor((now - (oldestReadySince ?? now)) / 1_000);
  if (age < limit * (isRaised("queue_too_old", queue) ? CLEARED_BELOW : 1)) return [];
  const reason = [`its oldest job has been due for ${age} s`, ...connectorsOf(queue).map(howItIs)].join("; ");
  return [{ name: "queue_too_old", subject: queue, reason, raiseAfterMs: 0 }];
}

/** Whoever is woken by an old queue sees which provider it waits for, and why. */
function howItIs({ name, status }: QueueConnector): string {
  if (!status) return `${name} is disabled`;
  const { state, reason, health, rate } = status;
  const why = reason ?? connectorTrouble({ health, perSecond: rate?.perSecond });
  return `${name} is ${state}${why === undefined ? "" : `, ${why}`}`;
}

function ofReceipts(
  { connectorId, parts }: { readonly connectorId: string; readonly parts: number },
  { settings, isRaised }: Situation,
): readonly Condition[] {
  const limit = readSetting(settings, "alarm_receipts_overdue");
  const isOver = parts >= limit * (isRaised("receipts_overdue", connectorId) ? CLEARED_BELOW : 1);
  if (limit === 0 || !isOver) return [];
  const reason = `${parts} segments have no receipt in time`;
  return [{ name: "receipts_overdue", subject: connectorId, reason, raiseAfterMs: 0 }];
}
