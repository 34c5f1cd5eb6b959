import type { DeliveryLog } from "../delivery/engine.ts";
import { createShares, type Shares } from "../delivery/shares/shares.ts";
import { type Lifeline, takeLifeline } from "./data-folder/lifeline.ts";
import type { Parts } from "./parts.ts";

/**
 * Only for a process that claims from a database which other processes may use too. Processes that had this data folder
 * before and are gone need not be waited for.
 */
export function openShares({ config, clock, steadyLog: log, store, ids }: Parts): Shares | undefined {
  const isSharing = config.roles.has("delivery");
  const claims = isSharing || config.roles.has("webhooks");
  if (config.databaseUrl === undefined || !claims) return undefined;
  const process = ids();
  const lifeline = openLifeline(config.dataFolder, process, log);
  const shares = createShares({ leases: store.leases, clock, log, process, isSharing, dead: lifeline.dead });
  return {
    ...shares,
    async stop() {
      await shares.stop();
      lifeline.release();
    },
  };
}

function openLifeline(folder: string, process: string, log: DeliveryLog): Lifeline {
  try {
    return takeLifeline(folder, process);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.info({ reason }, "the data folder cannot tell the next start whether this process lives");
    return { dead: [], release() {} };
  }
}
