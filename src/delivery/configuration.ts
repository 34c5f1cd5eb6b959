import { type Clock, sleep } from "../core/clock.ts";
import { eachRecord } from "../core/lists/each-record.ts";
import type { Log } from "../core/log.ts";
import type { Connector, Route } from "../core/records/accounts.ts";
import type { Records } from "../store/store.ts";

/** How often it is checked whether another process has changed the configuration. */
const RECONCILE_MS = 1_000;

/** All connectors, also those that are disabled, and all routes. */
export interface Configuration {
  readonly connectors: readonly Connector[];
  readonly routes: readonly Route[];
}

export interface ConfigurationDeps {
  readonly records: Pick<Records, "version" | "list">;
  /** Connectors and routes that exist without being configured: the simulator's. */
  readonly builtIn: Configuration;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
}

/** Calls `apply` with the configuration whenever it has changed, and at first. */
export function followConfiguration(deps: ConfigurationDeps, apply: (configuration: Configuration) => void) {
  const { records, builtIn, clock, log } = deps;
  let seenVersion = -1;
  let running: Promise<void> = Promise.resolve();
  const run = async () => {
    const version = await records.version();
    if (version === seenVersion) return;
    const connectors = await Array.fromAsync(eachRecord((page) => records.list("connectors", {}, page)));
    const routes = await Array.fromAsync(eachRecord((page) => records.list("routes", {}, page)));
    apply({
      connectors: [...builtIn.connectors, ...connectors],
      routes: [...builtIn.routes, ...routes],
    });
    seenVersion = version;
  };
  /** Reads the configuration, and applies it, if its version has changed. Its runs never overlap. */
  const reconcile = (): Promise<void> => {
    running = running.catch(() => {}).then(run);
    return running;
  };
  return {
    reconcile,
    /** Applies changes that other processes have made, until `signal` aborts. Never throws. */
    async follow(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        await reconcile().catch((error) => log.warn({ err: error }, "the configuration could not be read"));
        await sleep(clock, RECONCILE_MS, signal);
      }
    },
  };
}
