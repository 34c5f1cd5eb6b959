import type { ChannelStatus } from "../../channels/channel.ts";
import type { Clock } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import type { Connector } from "../../core/records/accounts.ts";

/** How long until the log repeats that a connector is down, which is retried every minute or so. A new reason is logged at once. */
const AGAIN_MS = 600_000;

export interface StatusLogDeps {
  readonly log: Pick<Log, "info" | "warn">;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** Tells the operator of each change of a connector's state. */
export function createStatusLog({ log, clock }: StatusLogDeps, { id, name }: Connector) {
  let down: { readonly reason: string | undefined; readonly toldMs: number } | undefined;

  const tellDown = (reason: string | undefined) => {
    const nowMs = clock.monotonicMs();
    const told = down?.reason === reason ? down : undefined;
    if (told && nowMs - told.toldMs < AGAIN_MS) return;
    down = { reason, toldMs: nowMs };
    log.warn({ connector: id, name, state: "down", reason }, `connector is ${told ? "still " : ""}down`);
  };
  return ({ state, reason }: ChannelStatus): void => {
    if (state === "down") tellDown(reason);
    if (state === "down" || (state === "connecting" && down)) return;
    down = undefined;
    log.info({ connector: id, name, state, reason }, `connector is ${state}`);
  };
}
