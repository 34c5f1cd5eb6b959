import type { Logger } from "pino";
import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import { StoreUnavailable } from "../store/store.ts";

/** The least time between two lines about an outage. */
const OUTAGE_GAP_MS = 1_000;

/**
 * The log of the background loops. While the database is away every loop fails in every turn: then at most one line a
 * second is written, without a stack, since all failures have the same cause and it is not in the code.
 */
export function createSteadyLog(log: Logger, clock: Pick<Clock, "monotonicMs">): Log {
  let toldAtMs = Number.NEGATIVE_INFINITY;

  const throttled = (level: "warn" | "error") => (fields: Record<string, unknown>, message: string) => {
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
    warn: throttled("warn"),
    error: throttled("error"),
  };
}

function causeOf({ cause }: Error): string | undefined {
  return cause instanceof Error ? cause.message : undefined;
}
