import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import type { Disk } from "../delivery/alarm-conditions.ts";
import { type AlarmWatch, createAlarmWatch } from "../delivery/alarm-watch.ts";
import type { Engine } from "../delivery/engine.ts";
import type { Store } from "../store/store.ts";
import { createAlarmCalls } from "../webhooks/alarm-calls.ts";
import type { Lookups } from "./network/create-lookups.ts";
import { processName } from "./process-name.ts";

export interface AlarmParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly engine: Pick<Engine, "connectors" | "connectorsOf" | "unstored">;
  readonly lookups: Pick<Lookups, "open">;
  /** The disk that the database is on; absent if that is another machine's. */
  readonly disk?: (() => Promise<Disk>) | undefined;
}

/** Watches for alarms in this process, and calls the operator's webhook when they change. */
export function createAlarms({ store, clock, log, engine, lookups, disk }: AlarmParts): AlarmWatch {
  const { records, queue, receipts } = store;
  const calls = createAlarmCalls({
    records,
    process: processName(),
    clock,
    random: Math.random,
    openResolver: lookups.open,
    log,
  });
  const watch = createAlarmWatch({
    queue,
    receipts,
    connectors: engine.connectors,
    connectorsOf: engine.connectorsOf,
    unstored: engine.unstored,
    ...(disk && { disk }),
    records,
    connectorName: async (id) => (await records.find("connectors", { id }))?.name,
    clock,
    log,
    tell: calls.tell,
  });
  return {
    ...watch,
    async stop() {
      await watch.stop();
      await calls.stop();
    },
  };
}
