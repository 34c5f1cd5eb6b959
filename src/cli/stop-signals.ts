import { readFileSync } from "node:fs";

/**
 * The signals that stop the service: SIGTERM, SIGINT (Ctrl-C), and SIGHUP (a closed terminal) unless it is ignored, as
 * under `nohup`, since a handler would undo that. If that cannot be found out, SIGHUP gets no handler.
 */
export function stopSignals(): readonly NodeJS.Signals[] {
  return ["SIGTERM", "SIGINT", ...(isHangUpIgnored() ? [] : (["SIGHUP"] as const))];
}

/** proc(5): a hexadecimal mask, whose lowest bit is signal 1. */
const IGNORED = /^SigIgn:\s*[0-9a-f]*(?<last>[0-9a-f])$/m;

function isHangUpIgnored(): boolean {
  try {
    const last = IGNORED.exec(readFileSync("/proc/self/status", "utf8"))?.groups?.last;
    return last === undefined || Number.parseInt(last, 16) % 2 === 1;
  } catch {
    return true;
  }
}
