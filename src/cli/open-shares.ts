import { errorText } from "../core/error-text.ts";
import type { Log } from "../core/log.ts";
import { createShares, type Shares } from "../delivery/shares/shares.ts";
import { type Lifeline, takeLifeline } from "./data-folder/lifeline.ts";
import type { Parts } from "./parts.ts";

/**
 * Opens the shares of a process that claims on PostgreSQL, or sweeps: a process that looks for leases that have run out must be
 * able to declare their holders dead, since a live process's leases are ended only by itself. `undefined` for others, which share
 * with nobody. Earlier processes of this data folder that are known to be dead need not be waited for.
 */
export function openShares({ config, clock, steadyLog: log, store, ids }: Parts): Shares | undefined {
  const isSharing = config.roles.has("delivery");
  const hasHeartbeat = isSharing || config.roles.has("webhooks") || config.roles.has("upkeep");
  if (config.databaseUrl === undefined || !hasHeartbeat) return undefined;
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

function openLifeline(folder: string, process: string, log: Log): Lifeline {
  try {
    return takeLifeline(folder, process);
  } catch (error) {
    const reason = errorText(error);
    log.info({ reason }, "the data folder cannot tell the next start whether this process lives");
    return { dead: [], release() {} };
  }
}
