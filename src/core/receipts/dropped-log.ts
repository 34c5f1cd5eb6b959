import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";

/** The time between two log lines about one connector: a provider may send nothing else, thousands in a second. */
const GAP_MS = 60_000;

/** Logs, of each connector, the first receipt or callback that is dropped, and then, at most once a minute, how many were since. */
export function createDroppedLog(
  { clock, log }: { readonly clock: Clock; readonly log: Pick<Log, "warn"> },
  line: string,
): (connector: string) => void {
  const connectors = new Map<string, { toldAtMs: number; dropped: number }>();
  return (connector) => {
    const known = connectors.get(connector) ?? { toldAtMs: Number.NEGATIVE_INFINITY, dropped: 0 };
    connectors.set(connector, known);
    known.dropped++;
    const nowMs = clock.monotonicMs();
    if (nowMs - known.toldAtMs < GAP_MS) return;
    log.warn({ connector, dropped: known.dropped }, line);
    connectors.set(connector, { toldAtMs: nowMs, dropped: 0 });
  };
}
