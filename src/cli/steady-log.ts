import type { Logger } from "pino";
import type { Clock } from "../core/clock.ts";
import type { DeliveryLog } from "../delivery/engine.ts";
import { StoreUnavailable } from "../store/store.ts";

/** Between two lines about an outage. */
const OUTAGE_GAP_MS = 1_000;

/**
 * The log as the loops of the service write to it. While the database is away each of them runs into that at every
 * turn: it is told once a second, by whoever comes first, and without a stack, since there is one cause and it is
 * not in the code.
 */
export function createSteadyLog(log: Logger, clock: Pick<Clock, "monotonicMs">): DeliveryLog {
  let toldAtMs = Number.NEGATIVE_INFINITY;

  const calmed = (level: "warn" | "error") => (fields: Record<string, unknown>, message: string) => {
    const { err, ...rest } = fields;
    if (!(err instanceof StoreUnavailable)) return log[level](fields, message);
    const nowMs = clock.monotonicMs();
    if (nowMs - toldAtMs < OUTAGE_GAP_MS) return;
    toldAtMs = nowMs;
    log[level]({ ...rest, error: err.message, cause: causeOf(err) }, message);
  };
  return {
    isDebug: () => log.isLevelEnabled("debug"),
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: calmed("warn"),
    error: calmed("error"),
  };
}

function causeOf({ cause }: Error): string | undefined {
  return cause instanceof Error ? cause.message : undefined;
}
