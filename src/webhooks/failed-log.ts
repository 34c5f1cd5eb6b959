import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";

/** The time between two log lines about one host: a URL that is gone answers 410 to each event, hundreds in a second. */
const GAP_MS = 60_000;

/** What a log line says of a webhook that has failed for good. */
export interface FailedFields {
  readonly account_id: string;
  readonly host: string;
  readonly webhook: string;
  readonly reason: string;
  readonly [name: string]: unknown;
}

interface Known {
  readonly toldAtMs: number;
  untold: number;
  /** Of the last one. */
  fields: FailedFields;
}

/**
 * Logs, of each account's host and each reason, the first webhook that fails for good, and then, at most once a minute, the
 * last one with the `count` since. What is left of a minute is told with the next webhook that fails, of whatever host.
 */
export function createFailedLog({
  clock,
  log,
}: {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Pick<Log, "warn">;
}): (fields: FailedFields) => void {
  /** Those told in the last minute, or with something untold; the longest ago first. */
  const hosts = new Map<string, Known>();
  const tell = (key: string, fields: FailedFields, count: number) => {
    log.warn({ ...fields, count }, "a webhook has failed");
    hosts.delete(key);
    hosts.set(key, { toldAtMs: clock.monotonicMs(), untold: 0, fields });
  };
  return (fields) => {
    const key = `${fields.account_id} ${fields.host} ${fields.reason}`;
    const known = hosts.get(key);
    if (known) {
      known.untold++;
      known.fields = fields;
    } else tell(key, fields, 1);
    const dueMs = clock.monotonicMs() - GAP_MS;
    for (const [each, { toldAtMs, untold, fields: last }] of hosts) {
      if (toldAtMs > dueMs) break;
      if (untold > 0) tell(each, last, untold);
      else hosts.delete(each);
    }
  };
}
