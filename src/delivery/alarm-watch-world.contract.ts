/** What tests of the watch for alarms share. */
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import type { AlarmChange } from "../core/alarms/alarm.ts";
import { type QueueBacklog, StoreUnavailable } from "../store/store.ts";
import type { QueueConnector, WatchedConnector } from "./alarm-conditions.ts";
import { createAlarmWatch } from "./alarm-watch.ts";

/** A watch on what the test says, looking every 5 s. */
export function openAlarmWatch() {
  const clock = createHeldClock();
  const world = {
    settings: {} as Record<string, string>,
    connectors: [] as WatchedConnector[],
    queueConnectors: [] as QueueConnector[],
    backlog: [] as QueueBacklog[],
    overdue: [] as { connectorId: string; parts: number }[],
    disk: { folder: "/data", free: 5_000_000_000, size: 20_000_000_000 },
    unstored: 0,
    isAway: false,
    /** Whether the jobs cannot be counted, or the receipts. */
    isUncounted: { jobs: false, receipts: false },
    /** How much later than it is the wall clock shows. */
    aheadMs: 0,
    asked: 0,
    answers: Promise.resolve(),
  };
  const told: string[] = [];
  const logged: string[] = [];
  const logAs = (level: string) => (fields: Record<string, unknown>, message: string) =>
    void logged.push(`${level} ${message}: ${fields.err ?? JSON.stringify(fields)}`);
  const watch = createAlarmWatch({
    clock: { ...clock, now: () => clock.now() + world.aheadMs },
    queue: {
      async backlog() {
        if (world.isUncounted.jobs) throw new Error("jobs damaged");
        return world.backlog;
      },
    },
    receipts: {
      async countOverdue() {
        if (world.isUncounted.receipts) throw new Error("receipts damaged");
        return world.overdue;
      },
    },
    connectors: () => world.connectors,
    connectorsOf: () => world.queueConnectors,
    unstored: () => world.unstored,
    connectorName: async () => undefined,
    async disk() {
      if (world.disk.size === 0) throw new Error("not permitted");
      return world.disk;
    },
    records: {
      async settings() {
        world.asked++;
        await world.answers;
        if (world.isAway) throw new StoreUnavailable("away");
        return world.settings;
      },
    },
    log: {
      isDebug: () => false,
      debug: logAs("debug"),
      info: logAs("info"),
      warn: logAs("warn"),
      error: logAs("error"),
    },
    tell: ({ kind, alarm }: AlarmChange) => void told.push(`${kind} ${alarm.name} ${alarm.subject}`),
  });
  watch.start();
  const names = () => watch.alarms().map(({ name, subject }) => `${name} ${subject}`);
  return { clock, world, watch, told, logged, names };
}

/** Of a connector that is well. */
export const UP = { state: "up", since: 0 } as const;
