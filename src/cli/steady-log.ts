import type { Logger } from "pino";
import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import { isOutage, StoreUnavailable } from "../store/store.ts";

/** The least time between two lines about an outage, or between two that say the same of another failure. */
const GAP_MS = 1_000;

/**
 * The log of the background loops, some of which turn twenty times a second. While the database is away every loop fails in every
 * turn: then at most one line a second is written, without a stack, since all failures have the same cause and it is not in the code.
 * Of another failure that comes back in every turn the same is said once a second.
 */
export function createSteadyLog(log: Logger, clock: Pick<Clock, "monotonicMs">): Log {
  const toldAtMs = new Map<string, number>();
  const isDue = (what: string) => {
    const nowMs = clock.monotonicMs();
    // The earliest come first. To look at all would take longer for each line, where many jobs fail within the second.
    for (const [told, atMs] of toldAtMs) {
      if (nowMs - atMs < GAP_MS) break;
      toldAtMs.delete(told);
    }
    if (toldAtMs.has(what)) return false;
    toldAtMs.set(what, nowMs);
    return true;
  };
  const throttled = (level: "warn" | "error") => (fields: Record<string, unknown>, message: string) => {
    const { err, ...rest } = fields;
    if (err instanceof StoreUnavailable && isOutage(err)) {
      if (isDue("outage")) log[level]({ ...rest, error: err.message, cause: causeOf(err) }, message);
    } else if (!(err instanceof Error) || isDue([message, err.message, ...Object.values(rest)].join("\n"))) {
      log[level](fields, message);
    }
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
