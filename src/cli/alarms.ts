import { type AlarmWatch, createAlarmWatch } from "../delivery/alarm-watch.ts";
import type { Engine } from "../delivery/engine.ts";
import { createAlarmCalls } from "../webhooks/alarm-calls.ts";
import type { Parts } from "./parts.ts";
import { processName } from "./process-name.ts";

/** Watches for alarms in this process, and calls the operator's webhook when they change. */
export function createAlarms(
  { store, clock, steadyLog: log, lookups, disk }: Parts,
  engine: Pick<Engine, "connectors" | "connectorsOf" | "unstored">,
): AlarmWatch {
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
